/** Writes the contract to docs/wire/redemption-openapi.json: `npm run openapi`. */
import { writeFileSync } from 'node:fs';
import { openApi } from './openapi.js';

writeFileSync('docs/wire/redemption-openapi.json', `${JSON.stringify(openApi, null, 2)}\n`);
