import {
  readVaultFacts,
  type RpcPool,
  VaultCanceller,
  type VaultFacts,
  vaultFaults,
  type VaultPlace,
  type VaultQuestion,
  VoucherSigner,
} from '#libs/chain';
import { type Address, parseAddress } from '#libs/domain';
import { type Check } from '../check.js';
import { type DoctorSettings } from '../doctor.settings.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { quantityOf } from '../rpc-question.js';
import { type Subject } from '../subject.js';
import { tokensText } from '../../output/amounts.js';

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
    const faults = vaultFaults({ ...facts, isSigner: true }, question);
    for (const text of faults) yield fault(NAME, text, 'Correct VAULT_CONTRACT or TOKEN_CONTRACT.');
    if (faults.length > 0) return;
    yield ok(NAME, `${question.place.vault} takes our vouchers`);
    yield* stateFindings(facts, await decimalsOf(subject));
    yield signerFinding(facts, question, subject.settings);
    yield* cancellerFindings(pool, facts, question, subject.settings);
  },
};

type Question = VaultQuestion & { readonly canceller: Address };

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
  const { voucherSignerKey, vaultCancellerKey = voucherSignerKey } = keys;
  const signer = voucherSignerKey && new VoucherSigner(place, voucherSignerKey).address;
  const canceller = vaultCancellerKey && new VaultCanceller(pool, place, vaultCancellerKey).address;
  return {
    place,
    token,
    signer: signer === undefined || signer === '' ? NOBODY : signer,
    canceller: canceller === undefined || canceller === '' ? NOBODY : canceller,
  };
}

function* stateFindings(facts: VaultFacts, tokenDecimals = 0): Generator<Finding> {
  const { isPaused, balance, remainingInWindow, windowCap, windowSeconds } = facts;
  const tokens = (tokenAmount: bigint): string => tokensText({ tokenAmount, tokenDecimals });
  const unit = tokenDecimals === 0 ? 'smallest units' : 'tokens';
  if (isPaused) {
    yield warning(
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
  { place, canceller }: Question,
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
  if (isCanceller) yield await coinFinding(pool, canceller);
}

async function coinFinding(pool: RpcPool, canceller: Address): Promise<Finding> {
  const what = `${NAME}: coin`;
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
  if (count >= CANCELLATIONS) return ok(what, `${canceller} can pay for cancellations`);
  return warning(
    what,
    `${canceller} has coin for about ${count} cancellations at the price of now`,
    "Send it some of the chain's coin for gas.",
  );
}

async function decimalsOf(subject: Subject): Promise<number | undefined> {
  return subject.settings.tokenDecimals ?? (await subject.index())?.tokenDecimals;
}
