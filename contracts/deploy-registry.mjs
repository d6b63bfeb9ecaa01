/**
 * Deploys SnapshotRegistry to a real chain; see contracts/README.md. After `npm run build`:
 *
 *   node contracts/deploy-registry.mjs --settings registry.json --key-file deployer.key
 *
 * The key and the node's address come from files, because every user of the machine can read arguments in the process
 * list.
 */
import { deployRegistry } from '#libs/chain';
import { READ, runDeployment, takePlace } from './deployment-files.mjs';

const CONTRACTS_AT_MOST = 100;

function contracts(value) {
  const given = Array.isArray(value) ? value.map((one) => READ.address(one)) : [];
  const isList = given.length > 0 && given.length <= CONTRACTS_AT_MOST;
  return isList && !given.includes(undefined) ? given : undefined;
}

function readRegistry(take, faults) {
  const place = takePlace(take);
  const deployment = {
    ...place,
    publisher: take('publisher', 'an address', READ.address),
    stakeContracts: take('stakeContracts', 'a list of addresses: STAKE_CONTRACT', contracts),
    stakeChainId: take('stakeChainId', 'a number: CHAIN_ID of the indexer', (value) =>
      READ.number(value ?? place.chainId),
    ),
  };
  if (deployment.publisher && deployment.publisher === deployment.admin) {
    faults.push('publisher: must be another account than admin, who can revoke its role');
  }
  return deployment;
}

await runDeployment('deploy-registry.mjs', readRegistry, async (deployment, key) => {
  const deployed = await deployRegistry(deployment, key);
  return { ...deployed, set: `REGISTRY_ADDRESS=${deployed.registry}` };
});
