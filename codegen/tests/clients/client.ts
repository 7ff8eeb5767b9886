// Client of the Rates API, written by `cargo charter client typescript`. Do not edit it.




export interface ErrorRecord {
  code: "malformed_request" | "unauthenticated" | "invalid_token" | "ability_missing" | "permission_missing" | "user_deactivated" | "link_invalid" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "in_progress" | "link_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "validation_failed" | "rate_limited" | "internal_error" | "overloaded" | "unavailable";
  errors?: Record<string, readonly string[]>;
  message: string;
}

export interface ExchangeRate {
  created_at: string;
  effective_at: string;
  expires_at: string | null;
  id: number;
  inverse_rate: string;
  rate: string;
  source: string;
  source_currency_code: string;
  target_currency_code: string;
  updated_at: string;
}

export interface ExchangeRateConvertAnswer {
  amount: string;
  at: string;
  from: string;
  method: "direct" | "inverse" | "triangulated";
  path: readonly string[];
  rate: string;
  result: string;
  to: string;
}

export interface ExchangeRateCreate {
  effective_at?: string | null;
  expires_at?: string | "" | null;
  inverse_rate?: string | null;
  rate: string;
  source?: string | null;
  source_currency_code: string;
  target_currency_code: string;
}

export interface ExchangeRateFields {
  created_at?: string;
  effective_at?: string;
  expires_at?: string | null;
  id?: number;
  inverse_rate?: string;
  rate?: string;
  source?: string;
  source_currency_code?: string;
  target_currency_code?: string;
  updated_at?: string;
}

export interface ExchangeRateUpdate {
  effective_at?: string | null;
  expires_at?: string | "" | null;
  inverse_rate?: string | null;
  rate?: string | null;
  source?: string | null;
  source_currency_code?: string | null;
  target_currency_code?: string | null;
}

export interface Import {
  changed_count: number;
  columns: readonly string[];
  created_at: string;
  created_count: number;
  entity_type: string;
  error: string | null;
  file_name: string;
  file_size: number;
  finished_at: string | null;
  format: "csv" | "ndjson" | "xlsx";
  id: number;
  left_count: number;
  mapping: Record<string, string | null>;
  match_by: string | null;
  refused_count: number;
  row_count: number;
  rows_done: number;
  started_at: string | null;
  status: "uploaded" | "rehearsing" | "rehearsed" | "running" | "done" | "cancelled" | "failed" | "undoing" | "undone";
  unchanged_count: number;
  undone_count: number;
  updated_at: string;
  user_id: number | null;
}

export interface MetaView {
  id: number;
  name: string;
}

export interface Meta {
  next_cursor?: string | null;
  page?: number;
  per_page: number;
  total?: number;
  total_estimate?: number;
  view?: MetaView;
}

export interface OnlyId {
  id: number;
}

export type ExchangeRatesCount = "exact" | "estimate" | "none";

export interface ExchangeRatesFiltersItem1 {
  field: string;
  logic?: string | null;
  predicate: "eq" | "not_eq" | "lt" | "lteq" | "gt" | "gteq" | "cont" | "not_cont" | "start" | "not_start" | "end" | "not_end";
  value: string | number | boolean;
}

export interface ExchangeRatesFiltersItem2 {
  field: string;
  logic?: string | null;
  predicate: "cont_any" | "in" | "not_in";
  value: readonly (string | number | boolean)[] | string | number | boolean;
}

export interface ExchangeRatesFiltersItem3 {
  field: string;
  logic?: string | null;
  predicate: "null" | "not_null" | "present" | "blank" | "true" | "false";
  value?: boolean | null | number | "true" | "false" | "t" | "f" | "1" | "0";
}

export type ExchangeRatesSort = "id" | "-id" | "source_currency_code" | "-source_currency_code" | "target_currency_code" | "-target_currency_code" | "rate" | "-rate" | "inverse_rate" | "-inverse_rate" | "source" | "-source" | "effective_at" | "-effective_at" | "expires_at" | "-expires_at" | "created_at" | "-created_at" | "updated_at" | "-updated_at" | `cf.${string}` | `-cf.${string}`;

export type ExchangeRatesField = "id" | "source_currency_code" | "target_currency_code" | "rate" | "inverse_rate" | "source" | "effective_at" | "expires_at" | "created_at" | "updated_at";

export interface ExchangeRatesFilters {
  created_at_gt?: string;
  id_eq?: number;
  id_in?: readonly number[];
  id_null?: boolean;
  rate_gteq?: string | number;
  source_cont_any?: readonly string[];
  [open: `${string}.${string}`]: FilterValue | FilterGroup | undefined;
  [either: `${string}_or_${string}`]: FilterValue | undefined;
}

export interface ListExchangeRatesEachParams {
  per_page?: number;
  count?: ExchangeRatesCount;
  filters?: readonly (ExchangeRatesFiltersItem1 | ExchangeRatesFiltersItem2 | ExchangeRatesFiltersItem3)[];
  sort?: ExchangeRatesSort;
  search?: string;
  q?: ExchangeRatesFilters;
}

export interface ListExchangeRatesParams extends ListExchangeRatesEachParams {
  page?: number;
  cursor?: string;
}

/** A page of a list. */
export interface ListExchangeRatesPage {
  exchange_rates: readonly ExchangeRate[];
  meta: Meta;
}

/** A page of a list. */
export interface ListExchangeRatesSelectedPage {
  exchange_rates: readonly ExchangeRateFields[];
  meta: Meta;
}

export interface BulkExchangeRatesAnswerItem201 {
  etag: string;
  exchange_rate: ExchangeRate;
  status: 201;
}

export interface BulkExchangeRatesAnswerItem200 {
  etag: string;
  exchange_rate: ExchangeRate;
  status: 200;
}

export interface BulkExchangeRatesAnswerItem204 {
  id: number;
  status: 204;
}

export interface BulkExchangeRatesAnswerItem4 {
  error: ErrorRecord;
  status: number;
}

export interface BulkExchangeRatesBodyOperationsItemCreate {
  exchange_rate: ExchangeRateCreate;
  method: "create";
}

export interface BulkExchangeRatesBodyOperationsItemUpdate {
  exchange_rate?: ExchangeRateUpdate | null;
  id: number;
  if_match?: string | null;
  method: "update";
}

export interface BulkExchangeRatesBodyOperationsItemDelete {
  id: number;
  if_match?: string | null;
  method: "delete";
}

export interface BulkExchangeRatesBody {
  atomic?: boolean | null;
  operations: readonly (BulkExchangeRatesBodyOperationsItemCreate | BulkExchangeRatesBodyOperationsItemUpdate | BulkExchangeRatesBodyOperationsItemDelete)[];
}

export interface ConvertExchangeRatesParams {
  from: string;
  to: string;
  amount: string;
  at?: string;
}

export interface ShowExchangeRateParams {
}

export interface CreateImportBody {
  entity_type: string;
  file: Upload | Blob;
  mapping?: Record<string, string | null> | null;
  match_by?: string | null;
}

export interface ExchangeRateCreatedEventData {
  exchange_rate: ExchangeRate | OnlyId;
}

export interface ExchangeRateCreatedEvent {
  data: ExchangeRateCreatedEventData;
  event: "exchange_rate.created";
  timestamp: string;
  truncated?: true;
}

/** An event; `event` is its name. */
export type WebhookEvent =
  | ExchangeRateCreatedEvent;

/**
 * Verifies a delivery and returns its event. `body` is the body as received. Throws `WebhookVerificationError`.
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  return (await verified(secret, headers, body, options)) as WebhookEvent;
}

/** Operations of `exchange_rates`. */
export class ExchangeRatesApi {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List exchange rates (`list_exchange_rates`). */
  list(params?: ListExchangeRatesParams & { view_id?: undefined; fields?: undefined }, options?: CallOptions): Promise<ListExchangeRatesPage>;
  list(params: Unselected<ListExchangeRatesParams> & { view_id?: number; fields?: readonly ExchangeRatesField[] }, options?: CallOptions): Promise<ListExchangeRatesSelectedPage>;
  list(params: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#transport.call({ method: "GET", path: `/api/v1/exchange_rates`, query: params, options });
  }

  /** All records, page by page. */
  each(params?: ListExchangeRatesEachParams & { view_id?: undefined; fields?: undefined }, options?: CallOptions): AsyncGenerator<ExchangeRate, void, undefined>;
  each(params: Unselected<ListExchangeRatesEachParams> & { view_id?: number; fields?: readonly ExchangeRatesField[] }, options?: CallOptions): AsyncGenerator<ExchangeRateFields, void, undefined>;
  each(params: object = {}, options: CallOptions = {}): AsyncGenerator<unknown, void, undefined> {
    return this.#transport.each({ method: "GET", path: `/api/v1/exchange_rates`, query: params, options }, "exchange_rates");
  }

  /** Show an exchange rate (`show_exchange_rate`). */
  show(id: number, params?: ShowExchangeRateParams & { fields?: undefined }, options?: CallOptions): Promise<ExchangeRate>;
  show(id: number, params: Unselected<ShowExchangeRateParams> & { fields?: readonly ExchangeRatesField[] }, options?: CallOptions): Promise<ExchangeRateFields>;
  show(id: number, params: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#transport.call({ method: "GET", path: `/api/v1/exchange_rates/${encodeURIComponent(id)}`, query: params, key: "exchange_rate", options });
  }

  /** Create an exchange rate (`create_exchange_rate`). */
  create(body: ExchangeRateCreate, options: CallOptions & IdempotencyOption = {}): Promise<ExchangeRate> {
    return this.#transport.call({ method: "POST", path: `/api/v1/exchange_rates`, body, key: "exchange_rate", hasKey: true, options });
  }

  /** Change an exchange rate (`update_exchange_rate`). */
  update(id: number, body: ExchangeRateUpdate = {}, options: CallOptions & IfMatchOption = {}): Promise<ExchangeRate> {
    return this.#transport.call({ method: "PUT", path: `/api/v1/exchange_rates/${encodeURIComponent(id)}`, body, key: "exchange_rate", options });
  }

  /** Change an exchange rate (`patch_exchange_rate`). */
  patch(id: number, body: ExchangeRateUpdate = {}, options: CallOptions & IfMatchOption = {}): Promise<ExchangeRate> {
    return this.#transport.call({ method: "PATCH", path: `/api/v1/exchange_rates/${encodeURIComponent(id)}`, body, key: "exchange_rate", options });
  }

  /** Delete an exchange rate (`delete_exchange_rate`). */
  delete(id: number, options: CallOptions & IfMatchOption = {}): Promise<void> {
    return this.#transport.call({ method: "DELETE", path: `/api/v1/exchange_rates/${encodeURIComponent(id)}`, media: "nothing", options });
  }

  /** Write exchange rates in bulk (`bulk_exchange_rates`). */
  bulk(body: BulkExchangeRatesBody, options: CallOptions & IdempotencyOption = {}): Promise<readonly (BulkExchangeRatesAnswerItem201 | BulkExchangeRatesAnswerItem200 | BulkExchangeRatesAnswerItem204 | BulkExchangeRatesAnswerItem4)[]> {
    return this.#transport.call({ method: "POST", path: `/api/v1/exchange_rates/bulk`, body, key: "results", hasKey: true, options });
  }

  /** Exchange rates: convert (`convert_exchange_rates`). */
  convert(params: ConvertExchangeRatesParams, options: CallOptions = {}): Promise<ExchangeRateConvertAnswer> {
    return this.#transport.call({ method: "GET", path: `/api/v1/exchange_rates/convert`, query: params, key: "conversion", options });
  }
}

/** Operations of `imports`. */
export class ImportsApi {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create an import (`create_import`). */
  create(body: CreateImportBody, options: CallOptions & IdempotencyOption = {}): Promise<Import> {
    return this.#transport.call({ method: "POST", path: `/api/v1/imports`, body, isForm: true, key: "import", hasKey: true, options });
  }

  /** Delete an import (`delete_import`). */
  delete(id: number, options: CallOptions & IfMatchOption = {}): Promise<void> {
    return this.#transport.call({ method: "DELETE", path: `/api/v1/imports/${encodeURIComponent(id)}`, media: "nothing", options });
  }

  /** An import: run (`run_import`). */
  run(id: number, options: CallOptions & IfMatchOption & IdempotencyOption = {}): Promise<Import> {
    return this.#transport.call({ method: "POST", path: `/api/v1/imports/${encodeURIComponent(id)}/run`, key: "import", hasKey: true, options });
  }
}

/** Operations of `service`. */
export class ServiceApi {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Metrics (`health_metrics`). */
  healthMetrics(options: CallOptions = {}): Promise<string> {
    return this.#transport.call({ method: "GET", path: `/health/metrics`, media: "text", isPublic: true, options });
  }
}

/** Client of the Rates API. */
export class ApiClient {
  readonly #transport: Transport;
  readonly exchangeRates: ExchangeRatesApi;
  readonly imports: ImportsApi;
  readonly service: ServiceApi;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.exchangeRates = new ExchangeRatesApi(transport);
    this.imports = new ImportsApi(transport);
    this.service = new ServiceApi(transport);
  }

  /** The file behind a signed link, such as the `url` of an attachment. The link needs no token. */
  download(url: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#transport.call({ method: "GET", path: url, media: "bytes", isPublic: true, options });
  }
}
