// Starts the viewer on this server's OpenAPI document, with every feature disabled that contacts another server.
const url = "/api/v1/openapi.json";

// The viewer sends every parameter that has an example: all filters of a list at once, or an invented version of a record.
// Optional parameters are therefore disabled until the reader enables them.
function disabledUnlessRequired(parameter) {
  if (parameter.required || !("example" in parameter)) return parameter;
  const { example, ...rest } = parameter;
  return { ...rest, examples: { default: { value: example, "x-disabled": true } } };
}

async function fetchDocument(input, init) {
  const response = await fetch(input, init);
  if (!response.ok || !String(input).endsWith(url)) return response;
  const api = await response.json();
  for (const operation of Object.values(api.paths).flatMap(Object.values)) {
    operation.parameters = operation.parameters?.map(disabledUnlessRequired);
  }
  for (const [name, parameter] of Object.entries(api.components.parameters)) {
    api.components.parameters[name] = disabledUnlessRequired(parameter);
  }
  return new Response(JSON.stringify(api), { headers: { "content-type": "application/json" } });
}

Scalar.createApiReference("#reference", {
  url,
  customFetch: fetchDocument,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenAllTags: false,
  persistAuth: false,
});
