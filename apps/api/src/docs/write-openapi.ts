/**
 * Writes the OpenAPI contract to docs/wire/openapi.json. Run by
 * `npm run build && node dist/apps/api/src/docs/write-openapi.js`.
 */
import { writeFileSync } from 'node:fs';
import { contractOfApi } from './contract.js';

const contract = await contractOfApi();
writeFileSync('docs/wire/openapi.json', `${JSON.stringify(contract, null, 2)}\n`);
