import { type StackContext } from '../context.js';
import { type UserUrls } from '../data/database-users.js';
import { type PartnerCallbackKeys } from '../data/stack-file.js';
import { type StackChain } from './start-chain.js';
import { childEnvironment, Service } from '../services/service.js';
import { type StackSettings } from '../stack.env.js';

interface ServicePlan {
  /** The folder under apps. */
  readonly name: string;
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
}

/** Starts the services and returns when each says that it is ready. */
export async function startServices(
  context: StackContext,
  plans: readonly ServicePlan[],
): Promise<void> {
  const outcomes = await Promise.allSettled(plans.map((plan) => startService(context, plan)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function startService(
  { screen, closers, died, paths, signal }: StackContext,
  { name, port, environment }: ServicePlan,
): Promise<void> {
  const service = await Service.start({ name, port, environment, logs: paths.logs });
  let stopping = false;
  closers.add(`the ${name}`, () => {
    stopping = true;
    return service.process.stop();
  });
  void service.process.ended.then(async () => {
    if (!stopping) died(await service.report());
  });
  await service.ready(signal, (reason) => {
    screen.progress(name, () => `not ready yet: ${reason}`);
  });
  screen.step(name, `ready on 127.0.0.1:${port}`);
}

interface StackFacts {
  readonly settings: StackSettings;
  readonly chain: StackChain;
  readonly urls: UserUrls;
  readonly secretsKey: string;
  readonly evidenceKey: string;
  readonly anonSecret: string;
  readonly callback: PartnerCallbackKeys;
  /** Those the partner of a local chain has: `0x…=5000,…`. */
  readonly players: string;
}

const LOOPBACK = '127.0.0.1';

/** The services and what each is told; a secret that the stack makes is told only to those that use it. */
export function servicePlans(facts: StackFacts): ServicePlan[] {
  const plans = [indexer(facts), api(facts)];
  return facts.chain.vault === undefined ? plans : [...plans, redemption(facts), partner(facts)];
}

function indexer({ settings, chain, urls }: StackFacts): ServicePlan {
  const port = settings.indexerPort;
  const added = {
    ...chain.environment,
    DATABASE_URL: urls.indexer,
    INDEXER_PORT: String(port),
  };
  const defaults = { ...chain.defaults, INDEXER_HOST: LOOPBACK };
  return { name: 'indexer', port, environment: childEnvironment(added, defaults) };
}

function api({ settings, chain, urls, secretsKey, anonSecret }: StackFacts): ServicePlan {
  const port = settings.apiPort;
  const added = {
    ...chain.environment,
    DATABASE_URL: urls.api,
    SECRETS_KEY: secretsKey,
    API_ANON_SECRET: anonSecret,
    API_PORT: String(port),
  };
  const defaults = { ...chain.defaults, API_HOST: LOOPBACK, SIGNATURE_DEBUGGER: 'true' };
  return { name: 'api', port, environment: childEnvironment(added, defaults) };
}

function redemption({ settings, chain, urls, secretsKey, evidenceKey }: StackFacts): ServicePlan {
  const port = settings.redemptionPort;
  const added = {
    ...chain.environment,
    ...chain.vault,
    DATABASE_URL: urls.redemption,
    SECRETS_KEY: secretsKey,
    EVIDENCE_KEY: evidenceKey,
    REDEMPTION_PORT: String(port),
  };
  const defaults = {
    REDEMPTION_HOST: LOOPBACK,
    SIWE_DOMAINS: `${LOOPBACK}:${port},localhost:${port}`,
    ALLOW_PRIVATE_PARTNERS: 'true',
    // So short that one can watch how a redemption times out.
    VOUCHER_TTL_SECONDS: '30',
    PAYOUT_EXPIRY_MARGIN_SECONDS: '0',
    PAYOUT_POLL_MS: '500',
    WALLET_DAILY_TOKEN_BUDGET: '1000000',
    // Having watched that, one can try again at once.
    VOUCHER_COOL_DOWN_SECONDS: '0',
  };
  return { name: 'redemption', port, environment: childEnvironment(added, defaults) };
}

function partner({ settings, chain, urls, callback, players }: StackFacts): ServicePlan {
  const port = settings.partnerPort;
  const added = {
    DATABASE_URL: urls.game,
    PARTNER_PORT: String(port),
    PARTNER_API_KEY: callback.key,
    PARTNER_SHARED_SECRET: callback.secret,
    PARTNER_BASE_PATH: '',
  };
  // The demonstration needs its players, whichever others there are to be.
  const lists = chain.local ? { PARTNER_PLAYERS: players } : {};
  const environment = childEnvironment(added, { PARTNER_HOST: LOOPBACK }, lists);
  return { name: 'partner', port, environment };
}
