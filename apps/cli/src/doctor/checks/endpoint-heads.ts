import { isTransient, parseFinality, RpcError } from '#libs/chain';
import { fault, type Finding, ok, warning } from '../finding.js';
import { type Patient } from '../patient.js';
import { askEndpoint, reasonOf, toHex, toldBy } from '../rpc-question.js';
import { type SeenBlock, seenBlock } from '../seen-block.js';
import { duration } from '../../output/text.js';

/** Clocks differ a little, and some chains date their blocks ahead. */
const AHEAD_SECONDS = 30;

export interface SeenHeads {
  /** Undefined where it could not be read. */
  readonly latest: SeenBlock | undefined;
  readonly findings: readonly Finding[];
}

/** The endpoint's newest block and its age, which also shows a wrong clock, and its newest final one. */
export async function headFindings(patient: Patient): Promise<SeenHeads> {
  const what = `${patient.name}: head`;
  const latest = await blockAt(patient, 'latest');
  if (latest === undefined || typeof latest === 'string') {
    const found = latest ?? 'has no newest block';
    const finding = fault(what, found, 'Ask its operator, or use another endpoint.');
    return { latest: undefined, findings: [finding] };
  }
  return {
    latest,
    findings: [ageFinding(patient, what, latest), await finalFinding(patient, latest)],
  };
}

function ageFinding({ subject }: Patient, what: string, latest: SeenBlock): Finding {
  const ageMs = subject.clock.nowMs() - latest.timestampSeconds * 1000;
  const { indexMaxLagSeconds } = subject.settings;
  if (ageMs < -AHEAD_SECONDS * 1000) {
    return warning(
      what,
      `block ${latest.number} is of the future, by ${duration(-ageMs)}`,
      'Check the clock of this machine (NTP); if it is right, the clock of the chain is wrong.',
    );
  }
  const found = `block ${latest.number}, ${duration(ageMs)} old`;
  return ageMs <= indexMaxLagSeconds * 1000
    ? ok(what, found)
    : warning(
        what,
        `${found}, more than INDEX_MAX_LAG_SECONDS (${indexMaxLagSeconds})`,
        'The node is behind (use another), the chain stands still (wait), or the clock of this machine is ahead (NTP).',
      );
}

async function finalFinding(patient: Patient, latest: SeenBlock): Promise<Finding> {
  const what = `${patient.name}: finality`;
  const { finality: setting } = patient.subject.settings;
  const finality = parseFinality(setting);
  const below = finality.kind === 'depth' ? latest.number - finality.blocks : 0n;
  const tag = finality.kind === 'tag' ? finality.tag : toHex(below < 0n ? 0n : below);
  const final = await blockAt(patient, tag);
  if (final === undefined || typeof final === 'string') {
    return fault(
      what,
      `no block for FINALITY=${setting}${final === undefined ? '' : `: ${final}`}`,
      'Where the chain has no such blocks, set FINALITY=depth:<blocks>.',
    );
  }
  const behind = latest.number - final.number;
  return ok(what, `block ${final.number} is final, ${behind} below the head`);
}

/** @returns the block, undefined where there is none, or why it was not told */
async function blockAt(
  { pool, endpoint }: Patient,
  tag: string,
): Promise<SeenBlock | string | undefined> {
  try {
    const call = { method: 'eth_getBlockByNumber', params: [tag, false] };
    const [result] = await askEndpoint(pool, endpoint, call);
    const { value, error } = toldBy(result);
    // A node that does not answer now says nothing of its blocks.
    if (isTransient(error)) throw error as RpcError;
    return error === undefined ? seenBlock(value) : reasonOf(error);
  } catch (error) {
    if (error instanceof RpcError && !isTransient(error)) return reasonOf(error);
    throw error;
  }
}
