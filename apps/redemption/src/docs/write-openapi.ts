/** Writes the contract to docs/wire/redemption-openapi.json: `npm run openapi`. */
import { writeFileSync } from 'node:fs';
import { RpcPool, WalletSignatures } from '#libs/chain';
import { Database, PriceStore } from '#libs/db';
import { previewApp } from '#libs/openapi';
import { CLOCK } from '#libs/platform';
import { HealthRegistry, LOGGER, Registry } from '#libs/service';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { ChainLink } from '../chain/chain-link.js';
import { Connections, RATE_LIMITER } from '../connections.module.js';
import { openApiOf } from '../create-redemption.js';
import { Alerts } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';
import { RedemptionModule } from '../redemption.module.js';

const app = await previewApp(
  (given) => RedemptionModule.register(given),
  [
    ...[RedemptionSettings, KeyRing, EvidenceKeys, CLOCK, LOGGER, Alerts],
    ...[Connections, ChainLink, RpcPool, WalletSignatures, Database, RATE_LIMITER],
    ...[HealthRegistry, PriceStore, Registry],
  ],
);
const text = JSON.stringify(openApiOf(app), null, 2);
writeFileSync('docs/wire/redemption-openapi.json', `${text}\n`);
