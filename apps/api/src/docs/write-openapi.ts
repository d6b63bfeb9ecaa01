/** Writes the contract to docs/wire/openapi.json: `npm run build && node dist/apps/api/src/docs/write-openapi.js`. */
import { writeFileSync } from 'node:fs';
import { openApi } from './openapi.js';

writeFileSync('docs/wire/openapi.json', `${JSON.stringify(openApi, null, 2)}\n`);
