import { randomBytes } from 'node:crypto';
import { checksummed } from '#libs/devchain';
import { mintSecretsKey } from '#libs/signing';
import { liveActivity } from './chain/live-activity.js';
import { type StackContext } from './context.js';
import { type PartnerCallbackKeys, type StackPartner } from './data/stack-file.js';
import { demonstrate } from './redemption/demonstration.js';
import { servicePlans, startServices } from './parts/start-services.js';
import { showStack } from './parts/show-stack.js';
import { startChain, type StackChain } from './parts/start-chain.js';
import { type StackDatabase, startDatabase } from './parts/start-database.js';
import { createPartner, type OperatorSettings, setCallback } from './partner/operator.js';

/** Points each player of the demonstration has at first. */
const POINTS = 1_000_000;

/** Brings everything up, shows it and demonstrates it; what was started is in `context.closers`. */
export async function startStack(context: StackContext): Promise<void> {
  const { signal } = context;
  const secrets = await secretsOf(context);
  // Both fail for reasons of their own, and what the one has started must be known before the stack gives up.
  const [database, chain] = await both(startDatabase(context), startChain(context));
  signal.throwIfAborted();
  // Before the services: after a pause the newest block is old, and an index of old blocks only is not ready.
  keepGoing(context, chain);
  const { urls } = database;
  const known = { databaseUrl: urls.cli, apiDatabaseUrl: urls.api };
  await context.file.set({ ...known, ...(await places(context, chain)) });

  const redeemers = (await chain.local?.redeemers()) ?? [];
  const plans = servicePlans({
    settings: context.settings,
    chain,
    urls,
    ...secrets,
    players: redeemers.map((wallet) => `${wallet}=${POINTS}`).join(','),
  });
  const operatorSettings = { DATABASE_URL: urls.cli, SECRETS_KEY: secrets.secretsKey };
  const [, partner] = await both(
    startServices(context, plans),
    partnerOf(context, { database, chain, callback: secrets.callback, operatorSettings }),
  );
  await showStack(context, { partner, chain });
  if (chain.local) {
    await demonstrate(context, { partner, local: chain.local, redeemers, operatorSettings });
  }
}

interface Secrets {
  readonly secretsKey: string;
  readonly evidenceKey: string;
  readonly anonSecret: string;
  readonly callback: PartnerCallbackKeys;
}

/** Those of the environment, else of an earlier start, else new ones; kept for later starts. */
async function secretsOf({ file, settings }: StackContext): Promise<Secrets> {
  const { content } = file;
  const secretsKey =
    settings.secretsKey ?? content.secretsKey ?? mintSecretsKey().toString('base64');
  const evidenceKey =
    settings.evidenceKey ?? content.evidenceKey ?? mintSecretsKey().toString('base64');
  const anonSecret =
    settings.apiAnonSecret ?? content.anonSecret ?? randomBytes(32).toString('base64url');
  const callback = content.partnerCallback ?? { key: mintHex(), secret: mintHex() };
  await file.set({ secretsKey, evidenceKey, anonSecret, partnerCallback: callback });
  return { secretsKey, evidenceKey, anonSecret, callback };
}

/** Never begins with a hyphen: the key becomes an argument of a command. */
function mintHex(): string {
  return randomBytes(32).toString('hex');
}

async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}

/** Where everything is, for those who use the stack. */
async function places({ settings }: StackContext, chain: StackChain) {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const { apiPort, indexerPort, redemptionPort, partnerPort } = settings;
  const services = { apiUrl: at(apiPort), indexerUrl: at(indexerPort) };
  const redeeming = { redemptionUrl: at(redemptionPort), partnerUrl: at(partnerPort) };
  if (chain.local) {
    const { chain: node, contracts, vault } = chain.local;
    const player = (await chain.local.redeemers()).at(-1);
    return {
      ...services,
      ...redeeming,
      isLocalChain: true,
      rpcUrl: node.url,
      chainId: node.chainId,
      stakeContract: contracts.staking,
      tokenContract: contracts.token,
      vaultContract: vault.vault,
      vaultStartBlock: String(vault.startBlock),
      ...(player !== undefined && { player: checksummed(player) }),
    };
  }
  const { rpcUrls, chainId, stakeContract, tokenContract, vaultContract } = settings;
  return {
    ...services,
    isLocalChain: false,
    ...(chain.vault !== undefined && redeeming),
    ...(rpcUrls !== undefined && { rpcUrl: rpcUrls }),
    ...(chainId !== undefined && { chainId: Number(chainId) }),
    ...(stakeContract !== undefined && { stakeContract }),
    ...(tokenContract !== undefined && { tokenContract }),
    ...(vaultContract !== undefined && { vaultContract }),
  };
}

interface PartnerSetup {
  readonly database: StackDatabase;
  readonly chain: StackChain;
  readonly callback: PartnerCallbackKeys;
  readonly operatorSettings: OperatorSettings;
}

/** The credential of an earlier start in the same database, else a new one; with the callback of this start. */
async function partnerOf(
  { file, screen, settings }: StackContext,
  { database, chain, callback, operatorSettings }: PartnerSetup,
): Promise<StackPartner> {
  const known = file.content.partner;
  let partner = known;
  if (partner?.database !== database.name) {
    partner = await createPartner(database.name, operatorSettings);
    await file.set({ partner });
    screen.step('partner', `${partner.name} is new`);
  }
  if (chain.vault !== undefined) {
    const url = `http://127.0.0.1:${settings.partnerPort}`;
    await setCallback({ name: partner.name, url }, callback, operatorSettings);
    screen.step('partner', `${partner.name} is called at ${url}`);
  }
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
