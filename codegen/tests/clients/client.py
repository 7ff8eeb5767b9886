# Client of the Rates API, written by `cargo charter client python`. Do not edit it.
# ruff: noqa






class Error(TypedDict):
    code: Literal["malformed_request", "unauthenticated", "invalid_token", "ability_missing", "permission_missing", "user_deactivated", "link_invalid", "not_found", "method_not_allowed", "request_timeout", "conflict", "in_progress", "link_expired", "precondition_failed", "payload_too_large", "unsupported_media_type", "range_not_satisfiable", "validation_failed", "rate_limited", "internal_error", "overloaded", "unavailable"]
    errors: NotRequired[Dict[str, Sequence[str]]]
    message: str


class ExchangeRate(TypedDict):
    created_at: str
    effective_at: str
    expires_at: Union[str, None]
    id: int
    inverse_rate: str
    rate: str
    source: str
    source_currency_code: str
    target_currency_code: str
    updated_at: str


ExchangeRateConvertAnswer = TypedDict(
    "ExchangeRateConvertAnswer",
    {
        "amount": "str",
        "at": "str",
        "from": "str",
        "method": "Literal[\"direct\", \"inverse\", \"triangulated\"]",
        "path": "Sequence[str]",
        "rate": "str",
        "result": "str",
        "to": "str",
    },
)


class ExchangeRateCreate(TypedDict):
    effective_at: NotRequired[Union[str, None]]
    expires_at: NotRequired[Union[Literal[""], str, None]]
    inverse_rate: NotRequired[Union[str, None]]
    rate: str
    source: NotRequired[Union[str, None]]
    source_currency_code: str
    target_currency_code: str


class ExchangeRateFields(TypedDict):
    created_at: NotRequired[str]
    effective_at: NotRequired[str]
    expires_at: NotRequired[Union[str, None]]
    id: NotRequired[int]
    inverse_rate: NotRequired[str]
    rate: NotRequired[str]
    source: NotRequired[str]
    source_currency_code: NotRequired[str]
    target_currency_code: NotRequired[str]
    updated_at: NotRequired[str]


class ExchangeRateUpdate(TypedDict):
    effective_at: NotRequired[Union[str, None]]
    expires_at: NotRequired[Union[Literal[""], str, None]]
    inverse_rate: NotRequired[Union[str, None]]
    rate: NotRequired[Union[str, None]]
    source: NotRequired[Union[str, None]]
    source_currency_code: NotRequired[Union[str, None]]
    target_currency_code: NotRequired[Union[str, None]]


class Import(TypedDict):
    changed_count: int
    columns: Sequence[str]
    created_at: str
    created_count: int
    entity_type: str
    error: Union[str, None]
    file_name: str
    file_size: int
    finished_at: Union[str, None]
    format: Literal["csv", "ndjson", "xlsx"]
    id: int
    left_count: int
    mapping: Dict[str, Union[str, None]]
    match_by: Union[str, None]
    refused_count: int
    row_count: int
    rows_done: int
    started_at: Union[str, None]
    status: Literal["uploaded", "rehearsing", "rehearsed", "running", "done", "cancelled", "failed", "undoing", "undone"]
    unchanged_count: int
    undone_count: int
    updated_at: str
    user_id: Union[int, None]


class MetaView(TypedDict):
    id: int
    name: str


class Meta(TypedDict):
    next_cursor: NotRequired[Union[str, None]]
    page: NotRequired[int]
    per_page: int
    total: NotRequired[int]
    total_estimate: NotRequired[int]
    view: NotRequired[MetaView]


class OnlyId(TypedDict):
    id: int


ExchangeRatesCount: TypeAlias = "Literal[\"exact\", \"estimate\", \"none\"]"


class ExchangeRatesFiltersItem1(TypedDict):
    field: str
    logic: NotRequired[Union[str, None]]
    predicate: Literal["eq", "not_eq", "lt", "lteq", "gt", "gteq", "cont", "not_cont", "start", "not_start", "end", "not_end"]
    value: Union[str, float, bool]


class ExchangeRatesFiltersItem2(TypedDict):
    field: str
    logic: NotRequired[Union[str, None]]
    predicate: Literal["cont_any", "in", "not_in"]
    value: Union[Sequence[Union[str, float, bool]], str, float, bool]


class ExchangeRatesFiltersItem3(TypedDict):
    field: str
    logic: NotRequired[Union[str, None]]
    predicate: Literal["null", "not_null", "present", "blank", "true", "false"]
    value: NotRequired[Union[Literal["true", "false", "t", "f", "1", "0"], bool, None, int]]


ExchangeRatesSort: TypeAlias = "Union[Literal[\"id\", \"-id\", \"source_currency_code\", \"-source_currency_code\", \"target_currency_code\", \"-target_currency_code\", \"rate\", \"-rate\", \"inverse_rate\", \"-inverse_rate\", \"source\", \"-source\", \"effective_at\", \"-effective_at\", \"expires_at\", \"-expires_at\", \"created_at\", \"-created_at\", \"updated_at\", \"-updated_at\"], CustomFieldName]"


ExchangeRatesField: TypeAlias = "Literal[\"id\", \"source_currency_code\", \"target_currency_code\", \"rate\", \"inverse_rate\", \"source\", \"effective_at\", \"expires_at\", \"created_at\", \"updated_at\"]"


class ExchangeRatesFilters(TypedDict):
    created_at_gt: NotRequired[str]
    id_eq: NotRequired[int]
    id_in: NotRequired[Sequence[int]]
    id_null: NotRequired[bool]
    rate_gteq: NotRequired[Union[str, float]]
    source_cont_any: NotRequired[Sequence[str]]


class ListExchangeRatesEachParams(TypedDict):
    per_page: NotRequired[int]
    count: NotRequired[ExchangeRatesCount]
    filters: NotRequired[Sequence[Union[ExchangeRatesFiltersItem1, ExchangeRatesFiltersItem2, ExchangeRatesFiltersItem3]]]
    sort: NotRequired[ExchangeRatesSort]
    search: NotRequired[str]
    q: NotRequired[ExchangeRatesFilters]
    q_extra: NotRequired[Mapping[str, Union[FilterValue, FilterGroup]]]


class ListExchangeRatesParams(ListExchangeRatesEachParams):
    page: NotRequired[int]
    cursor: NotRequired[str]


class ListExchangeRatesPage(TypedDict):
    """A page of a list."""
    exchange_rates: Sequence[ExchangeRate]
    meta: Meta


class ListExchangeRatesSelectedPage(TypedDict):
    """A page of a list."""
    exchange_rates: Sequence[ExchangeRateFields]
    meta: Meta


class BulkExchangeRatesAnswerItem201(TypedDict):
    etag: str
    exchange_rate: ExchangeRate
    status: Literal[201]


class BulkExchangeRatesAnswerItem200(TypedDict):
    etag: str
    exchange_rate: ExchangeRate
    status: Literal[200]


class BulkExchangeRatesAnswerItem204(TypedDict):
    id: int
    status: Literal[204]


class BulkExchangeRatesAnswerItem4(TypedDict):
    error: Error
    status: int


class BulkExchangeRatesBodyOperationsItemCreate(TypedDict):
    exchange_rate: ExchangeRateCreate
    method: Literal["create"]


BulkExchangeRatesBodyOperationsItemUpdate = TypedDict(
    "BulkExchangeRatesBodyOperationsItemUpdate",
    {
        "exchange_rate": "NotRequired[Union[ExchangeRateUpdate, None]]",
        "id": "int",
        "if_match": "NotRequired[Union[str, None]]",
        "method": "Literal[\"update\"]",
    },
)


BulkExchangeRatesBodyOperationsItemDelete = TypedDict(
    "BulkExchangeRatesBodyOperationsItemDelete",
    {
        "id": "int",
        "if_match": "NotRequired[Union[str, None]]",
        "method": "Literal[\"delete\"]",
    },
)


class BulkExchangeRatesBody(TypedDict):
    atomic: NotRequired[Union[bool, None]]
    operations: Sequence[Union[BulkExchangeRatesBodyOperationsItemCreate, BulkExchangeRatesBodyOperationsItemUpdate, BulkExchangeRatesBodyOperationsItemDelete]]


class ConvertExchangeRatesParams(TypedDict):
    from_: str
    to: str
    amount: str
    at: NotRequired[str]


class ShowExchangeRateParams(TypedDict):
    pass


class CreateImportBody(TypedDict):
    entity_type: str
    file: Upload
    mapping: NotRequired[Union[Dict[str, Union[str, None]], None]]
    match_by: NotRequired[Union[str, None]]


class ExchangeRateCreatedEventData(TypedDict):
    exchange_rate: Union[ExchangeRate, OnlyId]


class ExchangeRateCreatedEvent(TypedDict):
    data: ExchangeRateCreatedEventData
    event: Literal["exchange_rate.created"]
    timestamp: str
    truncated: NotRequired[Literal[True]]


WebhookEvent = Union[
    ExchangeRateCreatedEvent,
]
"""An event; ``event`` is its name."""


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance: float = 300.0
) -> WebhookEvent:
    """Verifies a delivery and returns its event.

    ``body`` is the body as received, and ``tolerance`` the most seconds between the time of the delivery and now.
    Raises ``WebhookVerificationError``.
    """
    return cast(WebhookEvent, _verified(secret, headers, body, tolerance))


class ExchangeRatesApi:
    """Operations of ``exchange_rates``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @overload
    def list(self, **params: Unpack[ListExchangeRatesParams]) -> ListExchangeRatesPage: ...

    @overload
    def list(self, *, view_id: int, fields: Sequence[ExchangeRatesField] = ..., **params: Unpack[ListExchangeRatesParams]) -> ListExchangeRatesSelectedPage: ...

    @overload
    def list(self, *, fields: Sequence[ExchangeRatesField], **params: Unpack[ListExchangeRatesParams]) -> ListExchangeRatesSelectedPage: ...

    def list(self, **params: Any) -> Any:
        """List exchange rates (``list_exchange_rates``)."""
        return self._transport.call("GET", "/api/v1/exchange_rates", query=params)

    @overload
    def each(self, **params: Unpack[ListExchangeRatesEachParams]) -> Iterator[ExchangeRate]: ...

    @overload
    def each(self, *, view_id: int, fields: Sequence[ExchangeRatesField] = ..., **params: Unpack[ListExchangeRatesEachParams]) -> Iterator[ExchangeRateFields]: ...

    @overload
    def each(self, *, fields: Sequence[ExchangeRatesField], **params: Unpack[ListExchangeRatesEachParams]) -> Iterator[ExchangeRateFields]: ...

    def each(self, **params: Any) -> Any:
        """All records, page by page."""
        return self._transport.each("GET", "/api/v1/exchange_rates", "exchange_rates", params)

    @overload
    def show(self, id: int, **params: Unpack[ShowExchangeRateParams]) -> ExchangeRate: ...

    @overload
    def show(self, id: int, *, fields: Sequence[ExchangeRatesField], **params: Unpack[ShowExchangeRateParams]) -> ExchangeRateFields: ...

    def show(self, id: int, **params: Any) -> Any:
        """Show an exchange rate (``show_exchange_rate``)."""
        return self._transport.call("GET", f"/api/v1/exchange_rates/{quote(str(id), safe='')}", query=params, key="exchange_rate")

    def create(self, body: ExchangeRateCreate, *, idempotency_key: Optional[str] = None) -> ExchangeRate:
        """Create an exchange rate (``create_exchange_rate``)."""
        return cast("ExchangeRate", self._transport.call("POST", "/api/v1/exchange_rates", body=body, key="exchange_rate", has_key=True, idempotency_key=idempotency_key))

    def update(self, id: int, body: Optional[ExchangeRateUpdate] = None, *, if_match: Optional[str] = None) -> ExchangeRate:
        """Change an exchange rate (``update_exchange_rate``)."""
        return cast("ExchangeRate", self._transport.call("PUT", f"/api/v1/exchange_rates/{quote(str(id), safe='')}", body=body or {}, key="exchange_rate", if_match=if_match))

    def patch(self, id: int, body: Optional[ExchangeRateUpdate] = None, *, if_match: Optional[str] = None) -> ExchangeRate:
        """Change an exchange rate (``patch_exchange_rate``)."""
        return cast("ExchangeRate", self._transport.call("PATCH", f"/api/v1/exchange_rates/{quote(str(id), safe='')}", body=body or {}, key="exchange_rate", if_match=if_match))

    def delete(self, id: int, *, if_match: Optional[str] = None) -> None:
        """Delete an exchange rate (``delete_exchange_rate``)."""
        self._transport.call("DELETE", f"/api/v1/exchange_rates/{quote(str(id), safe='')}", media="nothing", if_match=if_match)

    def bulk(self, body: BulkExchangeRatesBody, *, idempotency_key: Optional[str] = None) -> Sequence[Union[BulkExchangeRatesAnswerItem201, BulkExchangeRatesAnswerItem200, BulkExchangeRatesAnswerItem204, BulkExchangeRatesAnswerItem4]]:
        """Write exchange rates in bulk (``bulk_exchange_rates``)."""
        return cast("Sequence[Union[BulkExchangeRatesAnswerItem201, BulkExchangeRatesAnswerItem200, BulkExchangeRatesAnswerItem204, BulkExchangeRatesAnswerItem4]]", self._transport.call("POST", "/api/v1/exchange_rates/bulk", body=body, key="results", has_key=True, idempotency_key=idempotency_key))

    def convert(self, **params: Unpack[ConvertExchangeRatesParams]) -> ExchangeRateConvertAnswer:
        """Exchange rates: convert (``convert_exchange_rates``)."""
        return cast("ExchangeRateConvertAnswer", self._transport.call("GET", "/api/v1/exchange_rates/convert", query=_renamed(params, {"from_": "from"}), key="conversion"))


class ImportsApi:
    """Operations of ``imports``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, body: CreateImportBody, *, idempotency_key: Optional[str] = None) -> Import:
        """Create an import (``create_import``)."""
        return cast("Import", self._transport.call("POST", "/api/v1/imports", body=body, is_form=True, key="import", has_key=True, idempotency_key=idempotency_key))

    def delete(self, id: int, *, if_match: Optional[str] = None) -> None:
        """Delete an import (``delete_import``)."""
        self._transport.call("DELETE", f"/api/v1/imports/{quote(str(id), safe='')}", media="nothing", if_match=if_match)

    def run(self, id: int, *, if_match: Optional[str] = None, idempotency_key: Optional[str] = None) -> Import:
        """An import: run (``run_import``)."""
        return cast("Import", self._transport.call("POST", f"/api/v1/imports/{quote(str(id), safe='')}/run", key="import", if_match=if_match, has_key=True, idempotency_key=idempotency_key))


class ServiceApi:
    """Operations of ``service``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def health_metrics(self) -> str:
        """Metrics (``health_metrics``)."""
        return cast("str", self._transport.call("GET", "/health/metrics", media="text", is_public=True))


class ApiClient:
    """Client of the Rates API. Times are in seconds."""

    def __init__(
        self,
        base_url: str,
        token: Optional[str] = None,
        *,
        max_attempts: int = 4,
        attempt_timeout: float = 60.0,
        deadline: float = 120.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        self._owns_http = http is None
        self._http = http or httpx.Client()
        transport = Transport(base_url, token, max_attempts, attempt_timeout, deadline, self._http)
        self._transport = transport
        self.exchange_rates = ExchangeRatesApi(transport)
        self.imports = ImportsApi(transport)
        self.service = ServiceApi(transport)

    def download(self, url: str) -> bytes:
        """The file behind a signed link, such as the ``url`` of an attachment. The link needs no token."""
        return cast(bytes, self._transport.call("GET", url, media="bytes", is_public=True))

    def close(self) -> None:
        """Closes the connections, unless ``http`` was given."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
