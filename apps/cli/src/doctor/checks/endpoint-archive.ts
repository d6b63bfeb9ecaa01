import { ExecutionRevertedError, RpcError } from '#libs/chain';
import { type Finding, notChecked, ok, warning } from '../finding.js';
import { type Patient } from '../patient.js';
import { askEndpoint, reasonOf, toHex, toldBy } from '../rpc-question.js';
import { type SeenBlock } from '../seen-block.js';

const DEPTHS = [1_000_000n, 100_000n, 10_000n, 1000n, 128n, 0n] as const;
/** No contract: a call of it succeeds wherever the state is there. */
const NOBODY = '0x000000000000000000000000000000000000dead';

/** How far back the endpoint knows the state: with it the contract's own total is held against the events. */
export async function archiveFinding(patient: Patient, latest: SeenBlock): Promise<Finding> {
  const what = `${patient.name}: state`;
  const { startBlock } = await patient.subject.staking();
  if (startBlock === undefined) {
    return notChecked(what, 'STAKE_START_BLOCK is not set, and there is no index');
  }
  if (startBlock > latest.number) {
    return warning(
      what,
      `STAKE_START_BLOCK is ${startBlock}, above the head`,
      'Correct STAKE_START_BLOCK, or use a node that is not behind.',
    );
  }
  const refused = await refusal(patient, startBlock);
  if (refused === undefined) return ok(what, `from block ${startBlock} on (archive)`);
  for (const depth of DEPTHS) {
    const block = latest.number - depth;
    if (block <= startBlock || (await refusal(patient, block)) !== undefined) continue;
    return warning(
      what,
      depth === 0n ? 'of the newest block only' : `of the newest ${depth} blocks or so only`,
      'Enough to follow the chain; an archive endpoint lets the first sync and `audit` hold old blocks against the contract.',
    );
  }
  return warning(what, `none: ${refused}`, 'Use an endpoint that serves the state of the chain.');
}

/** Why the state of a block is not told; undefined where it is. */
async function refusal({ pool, endpoint }: Patient, block: bigint): Promise<string | undefined> {
  try {
    const [result] = await askEndpoint(pool, endpoint, {
      method: 'eth_call',
      params: [{ to: NOBODY, data: '0x' }, toHex(block)],
    });
    const { value, error } = toldBy(result);
    if (error instanceof ExecutionRevertedError) return undefined;
    if (error !== undefined) return reasonOf(error);
    return typeof value === 'string' ? undefined : 'answers with something else than bytes';
  } catch (error) {
    if (error instanceof RpcError) return reasonOf(error);
    throw error;
  }
}
