/**
 * Deploys RedemptionVault to a real chain; see contracts/README.md. After `npm run build`:
 *
 *   node contracts/deploy-vault.mjs --settings vault.json --key-file deployer.key
 *
 * The key and the node's address come from files, because every user of the machine can read arguments in the process
 * list.
 */
import { deployVault } from '#libs/chain';
import { READ, runDeployment, takePlace } from './deployment-files.mjs';

/** An hour: twice the default of VOUCHER_TTL_SECONDS. */
const MAX_TTL_SECONDS = 3_600;

function readVault(take, faults) {
  const { address, number, digits } = READ;
  const windowSeconds = take('windowSeconds', 'a number of seconds', number);
  const maxTtlSeconds = take('maxTtlSeconds', 'a number of seconds', (value = MAX_TTL_SECONDS) =>
    number(value),
  );
  const deployment = {
    ...takePlace(take),
    token: take('token', 'an address', address),
    signer: take('signer', 'an address', address),
    canceller: take('canceller', 'an address', address),
    pauser: take('pauser', 'an address', address),
    windowSeconds: BigInt(windowSeconds ?? 0),
    windowCap: take('windowCap', 'an amount in the smallest unit, as text', digits),
    maxTtlSeconds: BigInt(maxTtlSeconds ?? 0),
  };
  if (deployment.pauser && deployment.pauser === deployment.signer) {
    faults.push(
      'pauser: must be another account than signer, whose stolen key is a reason to pause',
    );
  }
  return deployment;
}

await runDeployment('deploy-vault.mjs', readVault, deployVault);
