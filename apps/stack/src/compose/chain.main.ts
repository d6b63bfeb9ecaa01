/**
 * `./lowmark local up`: the activity on the local chain. On a new chain it deploys the contracts and makes six weeks of
 * history; it writes the services' settings to `local.env` and mines a block every two seconds. It saves the chain's
 * state on disk, where a restarted chain reads it. When the chain ends, this program ends with an error, so that it is
 * restarted.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSettings } from '#libs/config';
import { addressOfKey, checksummed } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { LocalChain } from '../chain/local-chain.js';
import { localEnvironment } from '../chain/local-environment.js';
import { attachChain, liveActivity } from '../chain/start-chain.js';
import { Screen } from '../context.js';
import { ChainSettings, endWithMessage, REFERENCE_PARTNER } from './compose.settings.js';

const ending = new AbortController();
let isPlaying = false;
const screen = new Screen(systemClock, (line) => {
  console.log(line);
});

async function main(): Promise<void> {
  const settings = readSettings(ChainSettings);
  const { localRpcUrl, localChainDirectory, localReadyMark } = settings;
  await rm(localReadyMark, { force: true });
  const local = await LocalChain.start(localChainDirectory, {
    clock: systemClock,
    screen,
    signer: addressOfKey(settings.voucherSignerKey),
    onLaunched: () => undefined,
    launch: (options) => attachChain(localRpcUrl, options),
  });
  const file = join(localChainDirectory, 'local.env');
  const { chain, facts } = local;
  const redeemers = await local.redeemers();
  await writeFile(
    `${file}.part`,
    localEnvironment(facts, {
      serviceUrl: settings.localServiceUrl,
      pagesUrl: settings.localPagesUrl,
      redeemers,
    }),
  );
  await rename(`${file}.part`, file);
  await writeFile(localReadyMark, '');
  show(local, settings, redeemers.at(-1));
  void chain.exited.then(({ tail }) => {
    if (ending.signal.aborted) return;
    // The last saved state is on disk. Later blocks are lost, so this process does not know the restored chain.
    console.error(`The chain ended: ${tail}`);
    process.exit(1);
  });
  isPlaying = true;
  await liveActivity(local, systemClock, ending.signal);
  await rm(localReadyMark, { force: true });
  await chain.stop();
}

/** Shows the variables with which step 6 of docs/partners/quick-start.md begins. */
function show(
  { chain, wallets }: LocalChain,
  { localServiceUrl, localPublishedRpcUrl }: ChainSettings,
  player: Address | undefined,
): void {
  screen.step('chain', `has id ${chain.chainId}; a wallet that stakes: ${wallets[0] ?? 'none'}`);
  if (player === undefined) return;
  screen.lines(
    `url=${localServiceUrl} rpc=${localPublishedRpcUrl} chain=${chain.chainId} partner=${REFERENCE_PARTNER} wallet=${checksummed(player)}`,
  );
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // Without a complete history there is no state worth saving.
    if (!isPlaying) process.exit(1);
    ending.abort();
  });
}

await main().catch(endWithMessage);
