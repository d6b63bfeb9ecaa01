import {
  addressOfKey,
  readVaultFacts,
  type RpcPool,
  ttlFaults,
  type VaultFacts,
  vaultFaults,
  type VaultPlace,
  type VaultQuestion,
} from '#libs/chain';
import { type Address, parseAddress } from '#libs/domain';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { quantityOf } from '../rpc-question.js';
import { type Subject } from '../subject.js';
import { tokensText } from '../../output/text.js';

const NAME = 'vault';
/** Holds no role of any vault: roles are given to keys. */
const NOBODY = parseAddress(`0x${'0'.repeat(39)}1`) as Address;
const GAS_OF_CANCELLATION = 80_000n;
const CANCELLATIONS = 20n;

/** Whether the vault can pay, and the keys of the redemption service may sign and cancel. */
export const vaultCheck: Check = {
  name: NAME,
  needs: ['RPC_URLS', 'TOKEN_CONTRACT', 'VAULT_CONTRACT'],
  needsChain: true,
  async *look(subject) {
    const pool = await subject.chain();
    const question = await questionOf(subject, pool);
    if (pool === undefined || question === undefined) {
      yield notChecked(NAME, 'CHAIN_ID is not set, and there is no index');
      return;
    }
    const facts = await readVaultFacts(pool, question);
    // Whether the signer holds its role is said apart.
    const faults = vaultFaults({ ...facts, isSigner: true, maxTtlSeconds: undefined }, question);
    for (const text of faults) yield fault(NAME, text, 'Correct VAULT_CONTRACT or TOKEN_CONTRACT.');
    if (faults.length > 0) return;
    yield ok(NAME, `${question.place.vault} takes our vouchers`);
    yield ttlFinding(facts, question);
    yield* stateFindings(facts, await decimalsOf(subject));
    yield signerFinding(facts, question, subject.settings);
    yield* cancellerFindings(pool, facts, question, subject.settings);
    yield* pauserFindings(pool, facts, question, subject.settings);
  },
};

type Question = VaultQuestion & { readonly canceller: Address; readonly pauser: Address };

/** Undefined where the chain is not known. */
async function questionOf(
  subject: Subject,
  pool: RpcPool | undefined,
): Promise<Question | undefined> {
  const { vaultContract: vault, tokenContract: token, ...keys } = subject.settings;
  const chainId = subject.settings.chainId ?? (await subject.index())?.chainId;
  if (!pool || chainId === undefined || vault === undefined || token === undefined) {
    return undefined;
  }
  const place: VaultPlace = { chainId, vault };
  const { voucherSignerKey, vaultCancellerKey = voucherSignerKey, vaultPauserKey } = keys;
  return {
    place,
    token,
    signer: addressOf(voucherSignerKey),
    canceller: addressOf(vaultCancellerKey),
    pauser: addressOf(vaultPauserKey),
    voucherTtlSeconds: keys.voucherTtlSeconds,
  };
}

function addressOf(key: string | undefined): Address {
  return key === undefined || key === '' ? NOBODY : addressOfKey(key);
}

function* stateFindings(facts: VaultFacts, tokenDecimals = 0): Generator<Finding> {
  const { isPaused, balance, remainingInWindow, windowCap, windowSeconds } = facts;
  const tokens = (tokenAmount: bigint): string => tokensText({ tokenAmount, tokenDecimals });
  const unit = tokenDecimals === 0 ? 'smallest units' : 'tokens';
  if (isPaused) {
    yield fault(
      `${NAME}: pause`,
      'it is paused: no claim is paid',
      'When the reason is gone, let its admin call unpause.',
    );
  }
  yield balance === 0n
    ? warning(`${NAME}: balance`, 'it is empty: no claim is paid', 'Send tokens to the vault.')
    : ok(`${NAME}: balance`, `${tokens(balance)} ${unit}`);
  const what = `${NAME}: cap`;
  const hours = Number(windowSeconds) / 3600;
  yield remainingInWindow === 0n
    ? warning(
        what,
        `nothing is left of ${tokens(windowCap)} ${unit} in ${hours} hours`,
        'Wait, or let its admin raise the cap.',
      )
    : ok(what, `${tokens(remainingInWindow)} of ${tokens(windowCap)} ${unit} are left`);
}

function signerFinding(
  { isSigner }: VaultFacts,
  { place, signer }: Question,
  settings: DoctorSettings,
): Finding {
  const what = `${NAME}: signer`;
  if (settings.voucherSignerKey === undefined) {
    return notChecked(what, 'VOUCHER_SIGNER_KEY is not set');
  }
  return isSigner
    ? ok(what, `${signer} holds SIGNER_ROLE`)
    : fault(
        what,
        `${signer}, the address of VOUCHER_SIGNER_KEY, does not hold SIGNER_ROLE`,
        `Let the admin of ${place.vault} grant it SIGNER_ROLE, or correct the key.`,
      );
}

async function* cancellerFindings(
  pool: RpcPool,
  { isCanceller }: VaultFacts,
  { place, canceller, signer }: Question,
  settings: DoctorSettings,
): AsyncGenerator<Finding> {
  const what = `${NAME}: canceller`;
  if (canceller === NOBODY) {
    yield notChecked(what, 'neither VAULT_CANCELLER_KEY nor VOUCHER_SIGNER_KEY is set');
    return;
  }
  const key =
    settings.vaultCancellerKey === undefined ? 'VOUCHER_SIGNER_KEY' : 'VAULT_CANCELLER_KEY';
  yield isCanceller
    ? ok(what, `${canceller} holds CANCELLER_ROLE`)
    : warning(
        what,
        `${canceller}, the address of ${key}, does not hold CANCELLER_ROLE: cancellations wait for the voucher's deadline`,
        `Let the admin of ${place.vault} grant it CANCELLER_ROLE, or set VAULT_CANCELLER_KEY.`,
      );
  if (canceller === signer) {
    yield warning(
      `${NAME}: keys`,
      'the key that cancels is the key that signs vouchers: it is used more often and holds coin, so it is easier to lose',
      'Set VAULT_CANCELLER_KEY to a key of its own; docs/operating/keys.md says how.',
    );
  }
  if (isCanceller) yield await coinFinding(pool, canceller, `${NAME}: coin`);
}

async function coinFinding(pool: RpcPool, canceller: Address, what: string): Promise<Finding> {
  const [coin, price] = await pool.run(async (session) => {
    const { results } = await session.batch([
      { method: 'eth_getBalance', params: [canceller, 'latest'] },
      { method: 'eth_gasPrice', params: [] },
    ]);
    return results.map((result) => (result.ok ? quantityOf(result.value) : undefined));
  });
  if (coin === undefined || price === undefined) {
    return notChecked(what, 'no endpoint tells the balance or the price of gas');
  }
  const each = price * GAS_OF_CANCELLATION;
  const count = each === 0n ? CANCELLATIONS : coin / each;
  if (count >= CANCELLATIONS) return ok(what, `${canceller} can pay for its transactions`);
  return warning(
    what,
    `${canceller} has coin for about ${count} transactions at the price of now`,
    "Send it some of the chain's coin for gas.",
  );
}

async function* pauserFindings(
  pool: RpcPool,
  { isPauser }: VaultFacts,
  { place, pauser, signer }: Question,
  settings: DoctorSettings,
): AsyncGenerator<Finding> {
  const what = `${NAME}: pauser`;
  if (settings.vaultPauserKey === undefined) {
    // Only who has the key of the signer has that of the pauser.
    yield settings.voucherSignerKey === undefined
      ? notChecked(what, 'VAULT_PAUSER_KEY is not set')
      : warning(
          what,
          'VAULT_PAUSER_KEY is not set: a person pauses where a claim is a theft',
          'Make a key of its own and let the admin grant it PAUSER_ROLE: docs/operating/keys.md.',
        );
    return;
  }
  if (pauser === signer) {
    const text = 'VAULT_PAUSER_KEY is the key of VOUCHER_SIGNER_KEY: the service refuses to start';
    yield fault(what, text, 'Make a key of its own and let the admin grant it PAUSER_ROLE.');
    return;
  }
  yield isPauser
    ? ok(what, `${pauser} holds PAUSER_ROLE`)
    : fault(
        what,
        `${pauser}, the address of VAULT_PAUSER_KEY, does not hold PAUSER_ROLE: a theft would not pause the vault`,
        `Let the admin of ${place.vault} grant it PAUSER_ROLE, or correct the key.`,
      );
  if (isPauser) yield await coinFinding(pool, pauser, `${NAME}: pauser's coin`);
}

/** So much longer than vouchers live is enough where our clock is ahead of the chain's. */
const TTL_MARGIN_SECONDS = 300n;

function ttlFinding(facts: VaultFacts, question: Question): Finding {
  const what = `${NAME}: time`;
  const { maxTtlSeconds } = facts;
  if (maxTtlSeconds === undefined) {
    return ok(what, 'version 1: it pays vouchers of any deadline');
  }
  const [text] = ttlFaults(facts, question);
  if (text !== undefined) {
    return fault(what, text, 'Lower VOUCHER_TTL_SECONDS, or deploy a vault with a longer one.');
  }
  const ttl = BigInt(question.voucherTtlSeconds ?? 0);
  return ttl + TTL_MARGIN_SECONDS > maxTtlSeconds
    ? warning(
        what,
        `vouchers live ${ttl.toString()} s and the vault takes ${maxTtlSeconds.toString()} s: where our clock is ahead, a voucher pays only after a while`,
        `Lower VOUCHER_TTL_SECONDS to ${(maxTtlSeconds - TTL_MARGIN_SECONDS).toString()} or less.`,
      )
    : ok(what, `vouchers live ${ttl.toString()} s of ${maxTtlSeconds.toString()} s at most`);
}

async function decimalsOf(subject: Subject): Promise<number | undefined> {
  return subject.settings.tokenDecimals ?? (await subject.index())?.tokenDecimals;
}
