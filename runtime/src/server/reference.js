// Starts the viewer on this server's own description, with everything that would leave the server switched off.
Scalar.createApiReference("#reference", {
  url: "/api/v1/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenAllTags: false,
  persistAuth: false,
});
