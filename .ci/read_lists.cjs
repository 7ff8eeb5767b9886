// Reads every list with the TypeScript client of openapi-generator. Ids of parents are 1.

const [file, basePath, accessToken] = process.argv.slice(2);
const generated = require(file);
const configuration = new generated.Configuration({ basePath, accessToken });
const ids = { id: 1, productId: 1, webhookId: 1, importId: 1 };

async function read() {
  let count = 0;
  for (const [, Api] of Object.entries(generated).filter(([name]) => name.endsWith("Api"))) {
    const methods = Object.getOwnPropertyNames(Api.prototype);
    for (const method of methods.filter((name) => name.startsWith("list") && !/(Raw|RequestOpts)$/.test(name))) {
      const page = await new Api(configuration)[method](ids);
      if (page.meta.perPage !== 20) throw new Error(`${method}: ${JSON.stringify(page.meta)}`);
      count += 1;
    }
  }
  if (count < 20) throw new Error(`only ${count} lists`);
  console.log(`TypeScript: ${count} lists`);
}

read().catch((error) => {
  console.error(error);
  process.exit(1);
});
