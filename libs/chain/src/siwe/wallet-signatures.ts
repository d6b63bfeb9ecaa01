import { parseAbi } from 'viem';
import {
  encodeFunctionData,
  hashMessage,
  isErc6492Signature,
  parseErc6492Signature,
  recoverAddress,
  size,
} from 'viem/utils';
import { type Address, isUnheldAddress } from '#libs/domain';
import { TtlCache } from '#libs/platform';
import { MalformedAnswerError } from '../rpc/rpc.errors.js';
import { agreed, Quorum, questionTo, type Statement } from '../quorum/quorum.js';
import { countProviders } from '../rpc/endpoint-urls.js';
import { isReverted, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { bytes, type Hex, toQuantity, wideQuantity } from '../rpc/hex.js';
import {
  boundedCall,
  codeOf,
  DEPLOYLESS,
  returnedBytes,
  type SignatureQuestion,
  type VerificationMethod,
  verifierForm,
} from './siwe-message.js';

const ACCOUNT_SIGNATURE = /^0x[0-9a-f]{130}$/i;
/** In bytes: a signature of EIP-6492 ends with a mark of this length, which a verifier reads without a look at the length. */
const WRAPPER_MARK = 32;
/** The code of the pool's warning that one endpoint called a signature valid and another endpoint did not. */
export const SIGN_IN_DISAGREEMENT = 'SIGN_IN_DISAGREEMENT';
/**
 * How long a refusal of an endpoint is remembered. A chain may learn a new way, and an endpoint may recover from a
 * wrong answer.
 */
const REFUSAL_HOLDS_MS = 3_600_000;

/**
 * Whether a wallet signed a text (EIP-191). The signature of an account is recovered in this process. Any other
 * signature, the empty one of a wallet that signed on chain too, is verified by the chain, in the first of these ways
 * that the endpoint serves:
 *
 * 1. the universal verifier that is known on this chain: EIP-6492, which covers wallets that do not exist yet;
 * 2. the same verifier as the code of a call without `to`; ZK Stack chains refuse such calls;
 * 3. the wallet itself (EIP-1271). A wallet that does not exist yet cannot sign in then.
 *
 * A probe in the batch of the first question shows whether a way is served. The outcome of the question does not show
 * this, because a refusal looks like a revert. Each way has one answer that means valid; a way that is not served leads
 * to the next way, and never to an answer. If there are two providers, two must call a signature valid in the state of
 * the same block, because one alone could sign in as any wallet. The calls have no effect on the chain, also where they
 * deploy a wallet (EIP-6492). The pool should serve nothing else: contracts that strangers choose may make a
 * node slow to answer.
 */
export class WalletSignatures {
  private readonly forms: readonly VerificationMethod[];
  /** The form that each endpoint serves; without a form, only the wallet itself can be asked. */
  private readonly learned: TtlCache<string, { readonly form: VerificationMethod | undefined }>;
  private readonly warned = new Set<string>();

  constructor(
    private readonly pool: RpcPool,
    chainId: number,
  ) {
    this.learned = new TtlCache({ clock: pool, ttlMs: REFUSAL_HOLDS_MS });
    const verifier = UNIVERSAL_VERIFIERS.get(chainId);
    this.forms = [...(verifier === undefined ? [] : [verifierForm(verifier)]), DEPLOYLESS];
  }

  /**
   * @param signature `0x` and hex digits; any other text gives false
   * @throws AllEndpointsFailedError where the chain has to verify and cannot be asked, at two providers if there are
   * two
   */
  async isSignedBy(wallet: Address, text: string, signature: string): Promise<boolean> {
    const data = bytes(signature);
    // For a signature of no key ecrecover returns the zero address, and verifiers compare it with that of the wallet.
    if (data === undefined || isUnheldAddress(wallet)) return false;
    // By its own key first: an account that runs the code of a contract (EIP-7702) can still do all by its key.
    if (await isSignedByAccount(wallet, text, data)) return true;
    return this.isValid({ wallet, hash: hashMessage(text), signature: data });
  }

  private async isValid(asked: Omit<SignatureQuestion, 'block'>): Promise<boolean> {
    const { endpoints } = this.pool;
    if (countProviders(endpoints) < 2)
      return this.pool.run((session) => this.ask(session, { ...asked, block: 'latest' }));
    const quorum = new Quorum(endpoints);
    const [first, second = first] = await quorum.two(questionTo(this.pool, newestBlock), {
      mustBeTwo: true,
    });
    // In the state of one block an honest endpoint gives the answer of the other, also for a wallet that changes.
    const block = toQuantity(second.value < first.value ? second.value : first.value);
    const question = questionTo(this.pool, (session) => this.ask(session, { ...asked, block }));
    const said = await quorum.ask(question, isSame, { mustBeTwo: true, mayFail: true });
    if (new Set(said.map(({ value }) => value)).size > 1) this.warnOfDisagreement(said, asked);
    return agreed(said, isSame)?.value ?? false;
  }

  private warnOfDisagreement(
    said: readonly Statement<boolean>[],
    { wallet }: Omit<SignatureQuestion, 'block'>,
  ): void {
    const names = (of: readonly Statement<boolean>[]): string =>
      of.map(({ endpoint }) => endpoint).join(', ');
    const yes = names(said.filter(({ value }) => value));
    const no = names(said.filter(({ value }) => !value));
    this.pool.warn(
      names(said),
      SIGN_IN_DISAGREEMENT,
      `A signature of wallet ${wallet} is valid by ${yes}, and not by ${no}`,
    );
  }

  private async ask(session: RpcSession, question: SignatureQuestion): Promise<boolean> {
    if (size(question.signature) < WRAPPER_MARK) return this.askWallet(session, question);
    const learned = this.learned.get(session.endpoint);
    if (learned === undefined) return this.askAndLearn(session, question);
    const { form } = learned;
    if (form === undefined) return this.askWallet(session, question);
    const { results } = await session.batch([form.call(question)]);
    return verdict(results[0], form, session);
  }

  private async askAndLearn(session: RpcSession, question: SignatureQuestion): Promise<boolean> {
    for (const [index, form] of this.forms.entries()) {
      const { results } = await session.batch([form.call(question), form.probe]);
      if (form.isServed(results[1], session)) {
        const ttlMs = index === 0 ? Infinity : REFUSAL_HOLDS_MS;
        this.learned.set(session.endpoint, { form }, { ttlMs });
        return verdict(results[0], form, session);
      }
      this.warnOnce(session, 'SIGN_IN_FORM', `For contract wallets: ${form.absence}.`);
    }
    this.learned.set(session.endpoint, { form: undefined });
    return this.askWallet(session, question);
  }

  private async askWallet(session: RpcSession, question: SignatureQuestion): Promise<boolean> {
    const answer = await askContractWallet(session, question);
    if (answer === 'undeployed') {
      const text =
        'A contract wallet that is not deployed yet could not sign in: here its signature (EIP-6492) cannot be verified.';
      this.warnOnce(session, 'SIGN_IN_UNDEPLOYED_WALLET', text);
    }
    return answer === 'valid';
  }

  private warnOnce({ endpoint }: RpcSession, code: string, message: string): void {
    const key = `${endpoint} ${message}`;
    if (this.warned.has(key)) return;
    this.warned.add(key);
    this.pool.warn(endpoint, code, message);
  }
}

const isSame = (one: boolean, other: boolean): boolean => one === other;

async function newestBlock(session: RpcSession): Promise<bigint> {
  const { results } = await session.batch([{ method: 'eth_blockNumber', params: [] }]);
  const height = wideQuantity(valueOf(results[0]));
  if (height === undefined) throw new MalformedAnswerError('no block number', session);
  return height;
}

/**
 * @throws MalformedAnswerError where the answer is neither valid nor invalid; the call's error, unless the call
 * reverted
 */
function verdict(
  result: RpcResult | undefined,
  { valid, invalid }: VerificationMethod,
  session: RpcSession,
): boolean {
  if (isReverted(result)) return false;
  const answer = valueOf(result);
  if (answer === valid) return true;
  if (answer === invalid) return false;
  throw new MalformedAnswerError('a signature is neither valid nor invalid', session);
}

/**
 * Whether an account signed a text (EIP-191). No chain is asked, so the result is false for every contract wallet.
 * @param signature `0x` and hex digits; any other text gives false
 */
export async function isSignedByAccount(
  wallet: Address,
  text: string,
  signature: string,
): Promise<boolean> {
  const data = bytes(signature);
  if (data === undefined || !ACCOUNT_SIGNATURE.test(data)) return false;
  return (await recovered(hashMessage(text), data)) === wallet;
}

/** The signer in lower case; undefined where no account can have made the signature. */
async function recovered(hash: Hex, signature: Hex): Promise<string | undefined> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase();
  } catch {
    // The signature of a contract wallet may have the same length.
    return undefined;
  }
}

/** EIP-1271: a contract wallet that exists on the chain verifies the signature itself. */

const ABI = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']);
/** `bytes4(keccak256("isValidSignature(bytes32,bytes)"))`, left-aligned in its word. */
const MAGIC_VALUE = `0x1626ba7e${'0'.repeat(56)}`;

/** `undeployed`: the signature is one of EIP-6492, and the wallet has no code that could verify it. */
type WalletVerdict = 'valid' | 'invalid' | 'undeployed';

/** @throws RpcError where the endpoint cannot answer */
async function askContractWallet(
  session: RpcSession,
  { wallet, block, hash, signature }: SignatureQuestion,
): Promise<WalletVerdict> {
  const isWrapped = isErc6492Signature(signature);
  const inner = isWrapped ? unwrapped(signature) : signature;
  if (inner === undefined) return 'invalid';
  const args = [hash, inner] as const;
  const data = encodeFunctionData({ abi: ABI, functionName: 'isValidSignature', args });
  const { results } = await session.batch([
    codeOf(wallet, block),
    boundedCall({ to: wallet, data }, block),
  ]);
  const [code, answer] = results;
  if (returnedBytes(code, session) === '0x') return isWrapped ? 'undeployed' : 'invalid';
  if (isReverted(answer)) return 'invalid';
  return returnedBytes(answer, session) === MAGIC_VALUE ? 'valid' : 'invalid';
}

function unwrapped(signature: Hex): Hex | undefined {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    // The end of the signature marks it as wrapped, but the rest does not have the form of the wrapper.
    return undefined;
  }
}

/**
 * The contract that verifies signatures by EIP-6492, by chain id, where one was deployed because the chain accepts no
 * `eth_call` without `to`: the ZK Stack chains of viem's chain definitions (`contracts.erc6492Verifier`,
 * https://github.com/wevm/viem/pull/2807). The list is kept by hand, because viem's list of all chains takes 50 MB and
 * 0.3 s to load; a test compares the two.
 */
export const UNIVERSAL_VERIFIERS: ReadonlyMap<number, Address> = new Map(
  [
    /* ZKsync Sepolia */ 300, /* ZKsync Era */ 324, /* Abstract */ 2741,
    /* Abstract Testnet */ 11_124,
  ].map((chainId) => [chainId, '0xfb688330379976da81eb64fe4bf50d7401763b9c' as Address]),
);
