import { randomBytes } from 'node:crypto';
import { mintSecretsKey } from '#libs/signing';
import { liveActivity } from './chain/live-activity.js';
import { type StackContext } from './context.js';
import { type StackPartner } from './data/stack-file.js';
import { showStack } from './parts/show-stack.js';
import { startChain, type StackChain } from './parts/start-chain.js';
import { type StackDatabase, startDatabase } from './parts/start-database.js';
import { startServices } from './parts/start-services.js';
import { childEnvironment } from './services/environment.js';
import { createPartner } from './partner/create-partner.js';

/** Brings everything up and shows it; what was started is in `context.closers`. */
export async function startStack(context: StackContext): Promise<void> {
  const { file, settings, signal } = context;
  const secretsKey =
    settings.secretsKey ?? file.content.secretsKey ?? mintSecretsKey().toString('base64');
  const anonSecret =
    settings.apiAnonSecret ?? file.content.anonSecret ?? randomBytes(32).toString('base64url');
  await file.set({ secretsKey, anonSecret });

  // Both fail for reasons of their own, and what the one has started must be known before the stack gives up.
  const [database, chain] = await both(startDatabase(context), startChain(context));
  signal.throwIfAborted();
  // Before the services: after a pause the newest block is old, and an index of old blocks only is not ready.
  keepGoing(context, chain);
  const { apiPort, indexerPort } = settings;
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  await file.set({
    databaseUrl: database.url,
    apiUrl,
    indexerUrl: `http://127.0.0.1:${indexerPort}`,
    ...addresses(context, chain),
  });

  const shared = { DATABASE_URL: database.url, SECRETS_KEY: secretsKey };
  const [, partner] = await both(
    startServices(
      context,
      childEnvironment(
        {
          ...chain.environment,
          ...shared,
          API_ANON_SECRET: anonSecret,
          API_PORT: String(apiPort),
          INDEXER_PORT: String(indexerPort),
        },
        { ...chain.defaults, API_HOST: '127.0.0.1', INDEXER_HOST: '127.0.0.1' },
      ),
    ),
    partnerOf(context, database, shared),
  );
  await showStack(context, { apiUrl, partner, chain });
}

async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}

function addresses({ settings }: StackContext, { local }: StackChain) {
  const { rpcUrls, chainId, stakeContract, tokenContract } = settings;
  if (local === undefined) {
    return {
      ...(rpcUrls !== undefined && { rpcUrl: rpcUrls }),
      ...(chainId !== undefined && { chainId: Number(chainId) }),
      ...(stakeContract !== undefined && { stakeContract }),
      ...(tokenContract !== undefined && { tokenContract }),
    };
  }
  return {
    rpcUrl: local.chain.url,
    chainId: local.chain.chainId,
    stakeContract: local.contracts.staking,
    tokenContract: local.contracts.token,
  };
}

/** The credential of an earlier start in the same database, else a new one. */
async function partnerOf(
  { file, screen }: StackContext,
  database: StackDatabase,
  secrets: { readonly DATABASE_URL: string; readonly SECRETS_KEY: string },
): Promise<StackPartner> {
  const known = file.content.partner;
  if (known?.database === database.name) return known;
  const partner = await createPartner(database.name, secrets);
  await file.set({ partner });
  screen.step('partner', `${partner.name} is new`);
  return partner;
}

function keepGoing({ clock, closers, died }: StackContext, { local }: StackChain): void {
  if (local === undefined) return;
  const ending = new AbortController();
  const activity = liveActivity(local, clock, ending.signal).catch((error: unknown) => {
    died(`The activity on the local chain stopped: ${String(error)}`);
  });
  closers.add('the activity on the local chain', () => {
    ending.abort();
    return activity;
  });
}
