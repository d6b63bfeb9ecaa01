import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagedProcess } from '#libs/devprocess';
import {
  LOCAL_REDEMPTIONS,
  playersOf,
  siweDomains,
  testWallets,
} from './chain/local-environment.js';
import { canRedeem, type StackChain } from './chain/start-chain.js';
import { keepRunning, type StackContext, WaitingServices } from './context.js';
import { type UserUrls } from './data/start-database.js';
import { type Secrets } from './data/stack-file.js';
import { childEnvironment, mainOf } from './programs.js';
import { type StackSettings } from './stack.env.js';
import { StackError } from './stack.error.js';

interface StackFacts {
  readonly settings: StackSettings;
  readonly chain: StackChain;
  readonly urls: UserUrls;
  readonly secrets: Secrets;
}

type Variables = Readonly<Record<string, string>>;

interface ServiceRow {
  /** The folder under apps, and the prefix of the setting for the port. */
  readonly name: 'api' | 'indexer' | 'redemption' | 'console' | 'partner';
  /** The service runs only where redemptions can be paid. */
  readonly isForRedemptions?: true;
  /** Variables of the service. A secret that the stack makes goes only to the services that use it. */
  readonly settings: (facts: StackFacts) => Variables;
  /** Variables for which the environment of the stack takes precedence. */
  readonly defaults?: (facts: StackFacts, port: number) => Variables;
  /** List entries in front of those of the stack's environment. */
  readonly lists?: (facts: StackFacts, port: number) => Variables;
}

/** A service is ready when its `/health/ready` answers 200. */
const SERVICES: readonly ServiceRow[] = [
  {
    name: 'api',
    settings: ({ chain, urls, secrets }) => ({
      ...chain.environment,
      DATABASE_URL: urls.api,
      SECRETS_KEY: secrets.secretsKey,
    }),
    defaults: ({ chain }) => chain.defaults,
  },
  {
    name: 'indexer',
    settings: ({ chain, urls }) => ({ ...chain.environment, DATABASE_URL: urls.indexer }),
    defaults: ({ chain }) => chain.defaults,
  },
  {
    name: 'redemption',
    isForRedemptions: true,
    settings: ({ chain, urls, secrets }) => ({
      ...chain.environment,
      ...chain.vault,
      ...chain.registry,
      DATABASE_URL: urls.redemption,
      SECRETS_KEY: secrets.secretsKey,
      EVIDENCE_KEY: secrets.evidenceKey,
    }),
    // With the price's bounds: this service checks the stored price against its own.
    defaults: ({ chain }) => ({
      ...chain.defaults,
      ...LOCAL_REDEMPTIONS,
      // Short enough to watch a redemption time out.
      VOUCHER_TTL_SECONDS: '30',
    }),
    // The domains of the web pages and of the service itself, in addition to those of the environment.
    lists: ({ settings }, port) => ({
      SIWE_DOMAINS: siweDomains(settings.consolePort, port),
    }),
  },
  {
    name: 'console',
    settings: ({ chain, urls, secrets, settings }) => ({
      ...chain.environment,
      ...addressesOf(chain),
      DATABASE_URL: urls.console,
      PORTAL_DATABASE_URL: urls.portal,
      SECRETS_KEY: secrets.secretsKey,
      API_URL: localUrl(settings.apiPort),
      INDEXER_URL: localUrl(settings.indexerPort),
      REDEMPTION_URL: localUrl(settings.redemptionPort),
      // The test wallets sign for every visitor, so they exist on the local chain only.
      ...(chain.local && {
        // The key of the redemptions' MACs is given to the console only where the tokens are worth nothing.
        EVIDENCE_KEY: secrets.evidenceKey,
        CONSOLE_TEST_WALLET_RPC_URL: chain.local.chain.url,
        CONSOLE_TEST_WALLET_ACCOUNTS: testWallets(chain.redeemers),
        // A browser's wallet needs it to add the network.
        CONSOLE_NETWORK: `Local chain, ETH, ${chain.local.chain.url}`,
      }),
    }),
    defaults: (_, port) => ({ CONSOLE_ORIGIN: localUrl(port), ALLOW_PRIVATE_PARTNERS: 'true' }),
  },
  {
    name: 'partner',
    isForRedemptions: true,
    settings: ({ urls, secrets }) => ({
      DATABASE_URL: urls.game,
      PARTNER_API_KEY: secrets.partnerCallback.key,
      PARTNER_SHARED_SECRET: secrets.partnerCallback.secret,
      PARTNER_BASE_PATH: '',
    }),
    // The demonstration needs these players, in addition to those of the environment.
    lists: ({ chain }): Variables =>
      chain.local ? { PARTNER_PLAYERS: playersOf(chain.redeemers) } : {},
  },
];

/** The addresses of vault and registry, without their keys. */
function addressesOf({ vault, registry }: StackChain): Variables {
  return Object.fromEntries(
    Object.entries({ ...vault, ...registry }).filter(([name]) =>
      ['VAULT_CONTRACT', 'REGISTRY_ADDRESS'].includes(name),
    ),
  );
}

function servicesFor(settings: StackSettings): readonly ServiceRow[] {
  return SERVICES.filter((row) => row.isForRedemptions !== true || canRedeem(settings));
}

export function portsOf(settings: StackSettings): Record<string, number> {
  const ports = servicesFor(settings).map(({ name }) => [
    portVariable(name),
    settings[`${name}Port`],
  ]);
  return Object.fromEntries(ports) as Record<string, number>;
}

/** URLs of the services that will run: `apiUrl`, `indexerUrl`, … */
export function urlsOf(
  settings: StackSettings,
): Partial<Record<`${ServiceRow['name']}Url`, string>> {
  return Object.fromEntries(
    servicesFor(settings).map(({ name }) => [`${name}Url`, localUrl(settings[`${name}Port`])]),
  );
}

export function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function portVariable(name: string): string {
  return `${name.toUpperCase()}_PORT`;
}

export async function startServices(
  context: StackContext,
  parts: Omit<StackFacts, 'settings'>,
): Promise<void> {
  const facts = { ...parts, settings: context.settings };
  const waiting = new WaitingServices(context.screen);
  const outcomes = await Promise.allSettled(
    servicesFor(context.settings).map((row) => startService({ ...context, waiting }, facts, row)),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function startService(
  { waiting, ...context }: StackContext & { readonly waiting: WaitingServices },
  facts: StackFacts,
  { name, settings, defaults, lists }: ServiceRow,
): Promise<void> {
  const port = context.settings[`${name}Port`];
  const service = await ManagedProcess.start({
    command: process.execPath,
    args: ['--enable-source-maps', mainOf(name)],
    environment: childEnvironment(
      { ...settings(facts), [portVariable(name)]: String(port) },
      { ...defaults?.(facts, port), LISTEN_HOST: '127.0.0.1' },
      lists?.(facts, port),
    ),
    logFile: join(context.paths.logs, `${name}.log`),
  });
  const report = (): Promise<string> => endOf(name, service);
  keepRunning(context, {
    name: `the ${name}`,
    stop: () => service.stop(),
    ended: service.ended,
    report,
  });
  // No time limit: a signal, or the end of the process, ends the wait.
  for (;;) {
    context.signal.throwIfAborted();
    if (!service.isRunning) throw new StackError(await report());
    const reason = await whyNotReady(localUrl(port));
    if (reason === undefined) break;
    waiting.notReady(name, reason);
    await sleep(100);
  }
  waiting.ready(name);
  context.screen.step(name, `ready on 127.0.0.1:${port}`);
}

async function endOf(name: string, service: ManagedProcess): Promise<string> {
  const how = await service.ended;
  const tail = (await service.tail()).map((line) => `    ${line.slice(0, 1_000)}`);
  return [`The ${name} ended with ${how}. The end of its log:`, ...tail].join('\n');
}

async function whyNotReady(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) });
    const text = await answer.text();
    return answer.status === 200 ? undefined : reasonsIn(text);
  } catch {
    // The service does not listen yet or is too busy to answer. The state of its process decides when to give up.
    return 'it does not answer yet';
  }
}

/** The reasons of a health report; another answer is returned as text. */
function reasonsIn(text: string): string {
  try {
    const { reasons } = JSON.parse(text) as { reasons: string[] };
    return reasons.join('; ');
  } catch {
    return text.slice(0, 200);
  }
}
