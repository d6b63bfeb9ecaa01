/** The whole service with a registry: it publishes by itself, reports its progress, and stops. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { readSettings } from '#libs/config';
import { createLogger } from '#libs/service';
import { eventually } from '#libs/testing/clock';
import { createRedemption } from '../create-redemption.js';
import { RedemptionSettings } from '../redemption.env.js';
import { PUBLISHER_KEY, RegistryStage, rootOf, TODAY } from './registry-stage.support.js';

const FIRST = TODAY - 10;

let stage: RegistryStage;
let app: NestFastifyApplication | undefined;
const logs: string[] = [];
beforeAll(async () => {
  stage = await RegistryStage.start();
  await stage.seal(FIRST);
});
afterAll(async () => {
  await app?.close();
  await stage.stop();
});

async function start(changes: Record<string, string>): Promise<NestFastifyApplication> {
  const source = { ...stage.environment(), ...changes };
  const destination = { write: (line: string) => void logs.push(line) };
  const logger = createLogger({ app: 'redemption', level: 'trace', destination });
  const settings = readSettings(RedemptionSettings, source);
  const started = await createRedemption({ settings, logger, clock: stage.clock });
  await started.listen(0, '127.0.0.1');
  return started;
}

async function metrics(of: NestFastifyApplication): Promise<string> {
  return (await fetch(`${await of.getUrl()}/metrics`)).text();
}

describe('the service', () => {
  it('publishes, measures it, tells no key, and ends', async () => {
    const service = await start({});
    app = service;
    await eventually(async () => {
      await stage.registry.mine();
      return /lowmark_registry_publications\{[^}]*state="final"[^}]*\} 1\n/.test(
        await metrics(service),
      );
    });
    expect(await stage.registry.rootOf(FIRST)).toBe(rootOf(FIRST));
    const text = await metrics(service);
    expect(text).toMatch(/lowmark_registry_publications\{[^}]*stake_set="default"[^}]*\} 0\n/);
    expect(text).toMatch(/lowmark_registry_waiting_seconds\{[^}]*\} 0\n/);
    expect(text).toMatch(/lowmark_registry_coin(?:\{[^}]*\})? (?:9999|10000)/);
    await service.close();
    app = undefined;
    expect(logs.join('\n')).not.toContain(PUBLISHER_KEY);
    expect(logs.join('\n')).toMatch(/"msg":"Published"/);
  });

  it('without a registry has none of it', async () => {
    const none = {
      REGISTRY_ADDRESS: '',
      REGISTRY_PRIVATE_KEY: '',
      REGISTRY_FIRST_DAY: '',
    };
    app = await start(none);
    expect(await metrics(app)).not.toContain('lowmark_registry');
  });
});
