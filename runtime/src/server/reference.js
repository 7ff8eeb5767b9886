// Starts the viewer on this server's own description, with everything that would leave the server switched off.
const url = "/api/v1/openapi.json";

// The viewer would send every parameter that has an example: all filters of a list at once, or a made-up version of a
// record. What need not be sent is there to be switched on.
function asOffered(parameter) {
  if (parameter.required || !("example" in parameter)) return parameter;
  const { example, ...rest } = parameter;
  return { ...rest, examples: { default: { value: example, "x-disabled": true } } };
}

async function description(input, init) {
  const answer = await fetch(input, init);
  if (!answer.ok || !String(input).endsWith(url)) return answer;
  const api = await answer.json();
  for (const operation of Object.values(api.paths).flatMap(Object.values)) {
    operation.parameters = operation.parameters?.map(asOffered);
  }
  for (const [name, parameter] of Object.entries(api.components.parameters)) {
    api.components.parameters[name] = asOffered(parameter);
  }
  return new Response(JSON.stringify(api), { headers: { "content-type": "application/json" } });
}

Scalar.createApiReference("#reference", {
  url,
  customFetch: description,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenAllTags: false,
  persistAuth: false,
});
