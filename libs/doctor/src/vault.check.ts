import {
  addressOfKey,
  readVaultFacts,
  type RpcPool,
  ttlFaults,
  type VaultFacts,
  vaultFaults,
  type VaultQuestion,
  wideQuantity,
} from '#libs/chain';
import { type Address, isUnheldAddress, parseAddress } from '#libs/domain';
import { tokensText } from '#libs/operations';
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

/** An address without any role, since roles are granted to addresses of keys. */
export const NO_KEY = parseAddress(`0x${'0'.repeat(39)}1`) as Address;
const GAS_OF_CANCELLATION = 80_000n;
const CANCELLATIONS = 20n;
/** Margin between the vouchers' lifetime and the vault's maximum, for a clock that is ahead of the chain's. */
const TTL_MARGIN_SECONDS = 300n;

interface Vault extends VaultFacts {
  readonly pool: RpcPool;
  readonly settings: DoctorSettings;
  readonly question: VaultQuestion;
  readonly address: Address;
  readonly signer: Address;
  readonly canceller: Address;
  readonly pauser: Address;
  /** Formats an amount; in the smallest unit where the decimals are unknown. */
  readonly tokens: (amount: bigint) => string;
  readonly unit: string;
}

/** Whether the vault can pay, and whether the keys of the redemption service may sign, cancel and pause. */
export const vaultCheck = table({
  title: 'vault',
  needs: ['RPC_URLS', 'TOKEN_CONTRACT', 'VAULT_CONTRACT'],
  read: readVault,
  rows: [
    {
      title: 'vault',
      ask: vaultAnswers,
      remedy: 'Correct VAULT_CONTRACT or TOKEN_CONTRACT.',
      stopsOnFault: true,
    },
    { title: 'vault: time', ask: timeAnswer },
    {
      title: 'vault: pause',
      ask: ({ isPaused }) => (isPaused ? fault('it is paused: no claim is paid') : undefined),
      remedy: 'When the reason is gone, let its admin call unpause.',
    },
    {
      title: 'vault: balance',
      ask: ({ balance, tokens, unit }) =>
        balance === 0n
          ? warning('it is empty: no claim is paid')
          : ok(`${tokens(balance)} ${unit}`),
      remedy: 'Send tokens to the vault.',
    },
    {
      title: 'vault: cap',
      ask: capAnswer,
      remedy: 'Wait, or let its admin raise the cap.',
    },
    { title: 'vault: admin', ask: adminAnswer },
    { title: 'vault: signer', ask: signerAnswer },
    { title: 'vault: canceller', ask: cancellerAnswer },
    {
      title: 'vault: keys',
      ask: ({ canceller, signer }) =>
        canceller !== NO_KEY && canceller === signer
          ? warning(
              'the key that cancels is the key that signs vouchers: it is used more often and holds coin, so it is easier to lose',
            )
          : undefined,
      remedy: 'Set VAULT_CANCELLER_KEY to a key of its own; docs/operating/keys.md says how.',
    },
    {
      title: 'vault: coin',
      ask: ({ pool, canceller, isCanceller }) =>
        isCanceller && canceller !== NO_KEY ? coinAnswer(pool, canceller) : undefined,
      remedy: "Send it some of the chain's coin for gas.",
    },
    { title: 'vault: pauser', ask: pauserAnswer },
    {
      title: "vault: pauser's coin",
      ask: ({ pool, pauser, signer, isPauser }) =>
        isPauser && pauser !== NO_KEY && pauser !== signer ? coinAnswer(pool, pauser) : undefined,
      remedy: "Send it some of the chain's coin for gas.",
    },
  ],
});

async function readVault(subject: Subject): Promise<Vault> {
  const pool = await chainOf(subject);
  const chainId = await subject.chainId();
  const { settings } = subject;
  const {
    vaultContract: vault,
    tokenContract: token,
    voucherSignerKey,
    voucherTtlSeconds,
  } = settings;
  if (chainId === undefined || vault === undefined || token === undefined) {
    throw new CheckEnded(notChecked('CHAIN_ID is not set, and there is no index'));
  }
  const signer = addressOf(voucherSignerKey);
  const canceller = addressOf(settings.vaultCancellerKey ?? voucherSignerKey);
  const pauser = addressOf(settings.vaultPauserKey);
  const keys = { signer, canceller, pauser };
  const question = { place: { chainId, vault }, token, ...keys, voucherTtlSeconds };
  const facts = await readVaultFacts(pool, question);
  const tokenDecimals = (await subject.index())?.tokenDecimals ?? 0;
  const tokens = (tokenAmount: bigint): string => tokensText({ tokenAmount, tokenDecimals });
  const unit = tokenDecimals === 0 ? 'smallest units' : 'tokens';
  return { ...facts, ...keys, pool, settings, question, address: vault, tokens, unit };
}

export function addressOf(key: string | undefined): Address {
  return key === undefined || key === '' ? NO_KEY : addressOfKey(key);
}

function vaultAnswers({ question, address, ...facts }: Vault): Answer | Answer[] {
  // The row "vault: signer" reports a missing role of the signer.
  const faults = vaultFaults({ ...facts, isSigner: true, maxTtlSeconds: undefined }, question);
  return faults.length > 0
    ? faults.map((text) => fault(text))
    : ok(`${address} takes our vouchers`);
}

function timeAnswer(vault: Vault): Answer | undefined {
  const { maxTtlSeconds } = vault;
  if (maxTtlSeconds === undefined) return undefined;
  const [text] = ttlFaults(vault, vault.question);
  if (text !== undefined) {
    return fault(text, 'Lower VOUCHER_TTL_SECONDS, or deploy a vault with a longer one.');
  }
  const ttl = BigInt(vault.settings.voucherTtlSeconds);
  return ttl + TTL_MARGIN_SECONDS > maxTtlSeconds
    ? warning(
        `vouchers live ${ttl} s and the vault takes ${maxTtlSeconds} s: where our clock is ahead, a voucher pays only after a while`,
        `Lower VOUCHER_TTL_SECONDS to ${maxTtlSeconds - TTL_MARGIN_SECONDS} or less.`,
      )
    : ok(`vouchers live ${ttl} s of ${maxTtlSeconds} s at most`);
}

function capAnswer({ remainingInWindow, windowCap, windowSeconds, tokens, unit }: Vault): Answer {
  const hours = Number(windowSeconds) / 3600;
  return remainingInWindow === 0n
    ? warning(`nothing is left of ${tokens(windowCap)} ${unit} in ${hours} hours`)
    : ok(`${tokens(remainingInWindow)} of ${tokens(windowCap)} ${unit} are left`);
}

function adminAnswer({ admin, address, question }: Vault): Answer | undefined {
  if (admin === undefined) return undefined;
  return isUnheldAddress(admin, [address, question.token])
    ? warning(
        `its admin is ${admin}, which has no holder: no pause can be ended, no cap changed, and no token withdrawn`,
        'Deploy another vault with a Safe as its admin: contracts/README.md.',
      )
    : ok(admin);
}

function signerAnswer({ isSigner, signer, address, settings }: Vault): Answer {
  if (settings.voucherSignerKey === undefined) return notChecked('VOUCHER_SIGNER_KEY is not set');
  return isSigner
    ? ok(`${signer} holds SIGNER_ROLE`)
    : fault(
        `${signer}, the address of VOUCHER_SIGNER_KEY, does not hold SIGNER_ROLE`,
        `Let the admin of ${address} grant it SIGNER_ROLE, or correct the key.`,
      );
}

function cancellerAnswer({ isCanceller, canceller, address, settings }: Vault): Answer {
  if (canceller === NO_KEY) {
    return notChecked('neither VAULT_CANCELLER_KEY nor VOUCHER_SIGNER_KEY is set');
  }
  const key =
    settings.vaultCancellerKey === undefined ? 'VOUCHER_SIGNER_KEY' : 'VAULT_CANCELLER_KEY';
  return isCanceller
    ? ok(`${canceller} holds CANCELLER_ROLE`)
    : warning(
        `${canceller}, the address of ${key}, does not hold CANCELLER_ROLE: cancellations wait for the voucher's deadline`,
        `Let the admin of ${address} grant it CANCELLER_ROLE, or set VAULT_CANCELLER_KEY.`,
      );
}

function pauserAnswer({ isPauser, pauser, signer, address, settings }: Vault): Answer {
  if (settings.vaultPauserKey === undefined) {
    // Without the signer's key these are not the settings of the redemption service, which alone has the pauser's key.
    return settings.voucherSignerKey === undefined
      ? notChecked('VAULT_PAUSER_KEY is not set')
      : warning(
          'VAULT_PAUSER_KEY is not set: an operator must pause it if a claim is a theft',
          'Make a key of its own and let the admin grant it PAUSER_ROLE: docs/operating/keys.md.',
        );
  }
  if (pauser === signer) {
    return fault(
      'VAULT_PAUSER_KEY is the key of VOUCHER_SIGNER_KEY: the service refuses to start',
      'Make a key of its own and let the admin grant it PAUSER_ROLE.',
    );
  }
  return isPauser
    ? ok(`${pauser} holds PAUSER_ROLE`)
    : fault(
        `${pauser}, the address of VAULT_PAUSER_KEY, does not hold PAUSER_ROLE: a theft would not pause the vault`,
        `Let the admin of ${address} grant it PAUSER_ROLE, or correct the key.`,
      );
}

async function coinAnswer(pool: RpcPool, key: Address): Promise<Answer> {
  const [coin, price] = await pool.run(async (session) => {
    const { results } = await session.batch([
      { method: 'eth_getBalance', params: [key, 'latest'] },
      { method: 'eth_gasPrice', params: [] },
    ]);
    return results.map((result) => (result.ok ? wideQuantity(result.value) : undefined));
  });
  if (coin === undefined || price === undefined) {
    return notChecked('no endpoint tells the balance or the price of gas');
  }
  const each = price * GAS_OF_CANCELLATION;
  const count = each === 0n ? CANCELLATIONS : coin / each;
  return count >= CANCELLATIONS
    ? ok(`${key} can pay for its transactions`)
    : warning(`${key} has coin for about ${count} transactions at the price of now`);
}
