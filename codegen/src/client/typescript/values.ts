/** The token without spaces and line ends around it. The error does not contain it. */
function headerToken(token: string): string {
  const text = token.trim();
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new TypeError("The token is empty or has characters that cannot stand in a header.");
  }
  return text;
}

/** The address of a call. A link, such as that of a file, is an address of its own. */
function addressOf(path: string, baseUrl: string): string {
  if (path.includes("://")) {
    return path;
  }
  // `URL` would remove these parts, and the address would be that of another operation.
  if (path.split("/").some((part) => part === "." || part === "..")) {
    throw new TypeError("`.` and `..` are no values of a path.");
  }
  return baseUrl + path;
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isUpload(value: object): value is Upload {
  return "name" in value && "content" in value;
}

function appendQuery(query: URLSearchParams, values: object): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) {
      continue;
    }
    if (Array.isArray(value)) {
      const isFlat = value.every((element) => typeof element !== "object");
      query.append(name, isFlat ? listOf(name, value) : JSON.stringify(value));
    } else if (typeof value === "object") {
      appendFilters(query, name, value);
    } else {
      query.append(name, String(value));
    }
  }
}

/** A list. Empty `fields` select no field, but a blank parameter counts as missing. */
function listOf(name: string, values: readonly unknown[]): string {
  return name === "fields" && values.length === 0 ? "," : values.join(",");
}

/**
 * A list has brackets, so that its elements may contain commas. An empty list or group is sent too: the server answers
 * 422, but without the filter the call would return all records.
 */
function appendFilters(query: URLSearchParams, name: string, filters: object): void {
  for (const [key, value] of Object.entries(filters)) {
    const parameter = `${name}[${key}]`;
    if (value === undefined || value === null) {
      continue;
    }
    if (Array.isArray(value) && value.length > 0) {
      value.forEach((element) => query.append(`${parameter}[]`, String(element)));
    } else if (typeof value === "object" && Object.keys(value).length > 0) {
      appendFilters(query, parameter, value);
    } else {
      query.append(parameter, typeof value === "object" ? "" : String(value));
    }
  }
}

function toForm(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) {
      continue;
    }
    if (value instanceof Blob) {
      form.append(name, value);
    } else if (typeof value === "object" && isUpload(value)) {
      form.append(name, new Blob([value.content], { type: value.type ?? "application/octet-stream" }), value.name);
    } else if (typeof value === "object") {
      form.append(name, JSON.stringify(value));
    } else {
      form.append(name, String(value));
    }
  }
  return form;
}
