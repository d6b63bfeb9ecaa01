/** Writes the contract to docs/wire/console-openapi.json: `npm run openapi`. */
import { writeFileSync } from 'node:fs';
import { Database, PortalDatabase } from '#libs/db';
import { previewApp } from '#libs/openapi';
import { CLOCK } from '#libs/platform';
import { HealthRegistry, LOGGER, Registry } from '#libs/service';
import { Connections, RATE_LIMITER } from '../connections.module.js';
import { ConsoleSettings, SETTINGS_SOURCE } from '../console.env.js';
import { ConsoleModule } from '../console.module.js';
import { openApiOf } from './openapi.js';

const app = await previewApp(
  (given) => ConsoleModule.register(given),
  [
    ...[ConsoleSettings, CLOCK, LOGGER, Connections, Database, PortalDatabase, RATE_LIMITER],
    ...[HealthRegistry, Registry, SETTINGS_SOURCE],
  ],
);
const text = JSON.stringify(openApiOf(app), null, 2);
writeFileSync('docs/wire/console-openapi.json', `${text}\n`);
