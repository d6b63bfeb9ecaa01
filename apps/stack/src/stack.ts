import { randomBytes } from 'node:crypto';
import { checksummed } from '#libs/devchain';
import { mintSecretsKey } from '#libs/signing';
import { liveActivity, type StackChain, startChain } from './chain/start-chain.js';
import { type StackContext } from './context.js';
import { type Secrets, type StackFile, type StackPartner } from './data/stack-file.js';
import { startDatabase } from './data/start-database.js';
import { createPartner, type OperatorSettings, setCallback } from './programs.js';
import { makePageLinks } from './page-links.js';
import { demonstrate } from './redemption/demonstration.js';
import { localUrl, startServices, urlsOf } from './services.js';
import { showStack } from './show-stack.js';
import { StackError } from './stack.error.js';

/** Starts everything, shows it and runs the demonstration. `context.closers` has the cleanup of every started part. */
export async function startStack(context: StackContext): Promise<void> {
  const { signal, file } = context;
  const secrets = await secretsOf(context);
  // Each can fail by itself; both must be settled, so that everything they started is known before the stack gives up.
  const [{ urls, name }, chain] = await both(startDatabase(context), startChain(context));
  signal.throwIfAborted();
  // Runs before the services: after a pause the newest block is old, and an index of only old blocks is not ready.
  startActivity(context, chain);
  await file.set({
    databaseUrl: urls.cli,
    apiDatabaseUrl: urls.api,
    ...stackFileOf(context, chain),
  });
  const operatorSettings = { DATABASE_URL: urls.cli, SECRETS_KEY: secrets.secretsKey };
  const [, partner] = await both(
    startServices(context, { chain, urls, secrets }),
    partnerOf(context, { database: name, chain, secrets, operatorSettings }),
  );
  const links = await makePageLinks(context, partner.name, operatorSettings);
  await showStack(context, { partner, chain, links });
  await demonstrate(context, { partner, chain, operatorSettings });
}

/**
 * Secrets of the environment, else of an earlier start, else new ones; stored for later starts.
 * @throws StackError where an earlier start had a key that is gone: a new one would not open what that one sealed
 */
async function secretsOf({ file, settings }: StackContext): Promise<Secrets> {
  const { content } = file;
  const keyOf = (name: 'secretsKey' | 'evidenceKey'): string => {
    const key = settings[name] ?? content[name];
    if (key !== undefined) return key;
    if (content.databaseUsers === undefined) return mintSecretsKey().toString('base64');
    throw new StackError(
      `${name} is missing in .data/stack.json, though there is a database that needs it. Put it back, or start over: npm start -- --fresh`,
    );
  };
  const secrets = {
    secretsKey: keyOf('secretsKey'),
    evidenceKey: keyOf('evidenceKey'),
    partnerCallback: content.partnerCallback ?? { key: mintHex(), secret: mintHex() },
  };
  await file.set(secrets);
  return secrets;
}

/** Hexadecimal, so never with a leading hyphen: the key becomes an argument of a command. */
function mintHex(): string {
  return randomBytes(32).toString('hex');
}

async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}

function stackFileOf({ settings }: StackContext, { local, redeemers }: StackChain): StackFile {
  if (local) {
    const { contracts, vault, registry, chain } = local;
    const player = redeemers.at(-1);
    return {
      ...urlsOf(settings),
      isLocalChain: true,
      rpcUrl: chain.url,
      chainId: chain.chainId,
      stakeContract: contracts.staking,
      tokenContract: contracts.token,
      vaultContract: vault.vault,
      vaultStartBlock: String(vault.startBlock),
      ...(registry && { registryAddress: registry.address }),
      ...(player !== undefined && { player: checksummed(player) }),
    };
  }
  const { rpcUrls, chainId, stakeContract, tokenContract, vaultContract } = settings;
  return {
    ...urlsOf(settings),
    isLocalChain: false,
    ...(rpcUrls !== undefined && { rpcUrl: rpcUrls }),
    ...(chainId !== undefined && { chainId: Number(chainId) }),
    ...(stakeContract !== undefined && { stakeContract }),
    ...(tokenContract !== undefined && { tokenContract }),
    ...(vaultContract !== undefined && { vaultContract }),
  };
}

interface PartnerSetup {
  readonly database: string;
  readonly chain: StackChain;
  readonly secrets: Secrets;
  readonly operatorSettings: OperatorSettings;
}

/** The partner of an earlier start with the same database, else a new one. Its callback is set again. */
async function partnerOf(
  { file, screen, settings }: StackContext,
  { database, chain, secrets, operatorSettings }: PartnerSetup,
): Promise<StackPartner> {
  let { partner } = file.content;
  if (partner?.database !== database) {
    partner = await createPartner(database, operatorSettings);
    await file.set({ partner });
    screen.step('partner', `${partner.name} is new`);
  }
  if (chain.vault !== undefined) {
    const url = localUrl(settings.partnerPort);
    await setCallback({ name: partner.name, url }, secrets.partnerCallback, operatorSettings);
    screen.step('partner', `${partner.name} is called at ${url}`);
  }
  return partner;
}

function startActivity({ clock, closers, reportDeath }: StackContext, { local }: StackChain): void {
  if (local === undefined) return;
  const ending = new AbortController();
  const activity = liveActivity(local, clock, ending.signal).catch((error: unknown) => {
    reportDeath(`The activity on the local chain stopped: ${String(error)}`);
  });
  closers.add('the activity on the local chain', () => {
    ending.abort();
    return activity;
  });
}
