import {
  addressOfKey,
  isRegistryOf,
  PUBLICATIONS_KEPT,
  readRegistryFacts,
  type RegistryFacts,
  stakedInText,
} from '#libs/chain';
import { registryOf } from '#libs/config';
import { PublicationViews, stakeContractsOf } from '#libs/db';
import { type Address } from '#libs/domain';
import {
  type Answer,
  chainOf,
  CheckEnded,
  fault,
  notChecked,
  ok,
  table,
  warning,
} from './checks.js';
import { type DoctorSettings } from './doctor.settings.js';
import { type Subject } from './subject.js';
import { addressOf, NO_KEY } from './vault.check.js';

interface Registry extends RegistryFacts {
  readonly subject: Subject;
  readonly settings: DoctorSettings;
  readonly chainId: number | undefined;
  readonly address: Address;
  readonly publisher: Address;
}

/** Whether day roots can be published, and in the registry of this stake set. */
export const registryCheck = table({
  title: 'registry',
  needs: ['RPC_URLS', 'REGISTRY_ADDRESS'],
  read: readRegistry,
  rows: [
    {
      title: 'registry',
      ask: ({ hasCode, isRegistry, address, chainId }) => {
        if (!hasCode) return fault(`there is no contract at ${address} on chain ${chainId ?? '?'}`);
        return isRegistry
          ? ok(`${address} is a SnapshotRegistry`)
          : fault(`${address} is not a SnapshotRegistry`);
      },
      remedy: 'Correct REGISTRY_ADDRESS; contracts/deploy-registry.mjs makes one.',
      stopsOnFault: true,
    },
    { title: 'registry: contracts', ask: contractsAnswer },
    {
      title: 'registry: roots',
      ask: rootsAnswer,
      remedy:
        '`registry status` names the days; see docs/operating/sealed-days.md#day-roots-on-chain.',
    },
    { title: 'registry: publisher', ask: publisherAnswer },
    {
      title: "registry: publisher's key",
      ask: keyAnswer,
      remedy: 'Make a key of its own and let the admin of the registry grant it PUBLISHER_ROLE.',
    },
    {
      title: "registry: publisher's coin",
      ask: coinAnswer,
      remedy: "Send it some of the chain's coin for gas.",
    },
  ],
});

async function readRegistry(subject: Subject): Promise<Registry> {
  const pool = await chainOf(subject);
  const { settings } = subject;
  const { registryAddress, registryPrivateKey: key, stakeSet } = settings;
  const address = registryOf(registryAddress, stakeSet);
  if (address === undefined) {
    throw new CheckEnded(notChecked(`REGISTRY_ADDRESS names none of the stake set ${stakeSet}`));
  }
  const publisher = addressOf(key);
  const facts = await readRegistryFacts(pool, { registry: address, publisher });
  return { ...facts, subject, settings, chainId: await subject.chainId(), address, publisher };
}

/** Roots in a registry of other contracts would be wrong there for ever. */
async function contractsAnswer({ subject, stakedIn = '', address }: Registry): Promise<Answer> {
  const index = await subject.index();
  if (index === undefined) return notChecked('there is no index');
  const contracts = stakeContractsOf(index);
  if (isRegistryOf(stakedIn, index.chainId, contracts)) return ok('it is of the indexed contracts');
  return fault(
    `${address} is of ${stakedIn.slice(0, 500)}, and the index of ${stakedInText(index.chainId, contracts)}`,
    'Correct REGISTRY_ADDRESS or STAKE_SET: each stake set has a registry of its own.',
  );
}

/** Compares the publications in the database; reads no root from the chain. */
async function rootsAnswer({ subject, address, chainId }: Registry): Promise<Answer | undefined> {
  if (chainId === undefined || (await subject.index()) === undefined) return undefined;
  const views = new PublicationViews(await subject.stakes(), { chainId, registry: address });
  const { different, revised } = await views.summary();
  if (different > 0) return fault(`it holds other roots than ours of ${different} publications`);
  return revised > 0
    ? fault(`days of ${revised} publications were sealed again since, with other roots`)
    : ok('it holds no other root than ours');
}

function publisherAnswer({ mayPublish, publisher, address }: Registry): Answer {
  if (publisher === NO_KEY) return notChecked('REGISTRY_PRIVATE_KEY is not set');
  return mayPublish
    ? ok(`${publisher} holds PUBLISHER_ROLE`)
    : fault(
        `${publisher}, the address of REGISTRY_PRIVATE_KEY, does not hold PUBLISHER_ROLE`,
        `Let the admin of ${address} grant it PUBLISHER_ROLE, or correct the key.`,
      );
}

function keyAnswer({ publisher, settings }: Registry): Answer | undefined {
  const { voucherSignerKey, vaultCancellerKey, vaultPauserKey } = settings;
  const shared = [
    ['VOUCHER_SIGNER_KEY', voucherSignerKey] as const,
    ['VAULT_CANCELLER_KEY', vaultCancellerKey] as const,
    ['VAULT_PAUSER_KEY', vaultPauserKey] as const,
  ].find(([, key]) => key !== undefined && addressOfKey(key) === publisher);
  return (
    shared && fault(`REGISTRY_PRIVATE_KEY is the key of ${shared[0]}: the service refuses to start`)
  );
}

function coinAnswer({ publisher, coin, publications, mayPublish }: Registry): Answer | undefined {
  if (publisher === NO_KEY || !mayPublish) return undefined;
  if (coin === undefined) return notChecked('no endpoint tells the balance');
  return publications === undefined || publications >= PUBLICATIONS_KEPT
    ? ok(`${publisher} can pay for its transactions`)
    : warning(`${publisher} has coin for about ${publications} publications at the price of now`);
}
