import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PARTNER_CAPABILITIES, type PartnerCapability } from './partner-call.js';
import { isFinal } from './redemption.js';
import { REDEMPTION_STATES } from './redemption.js';
import { EVENTS } from './testing/events.js';
import { breachesOf } from './testing/invariants.js';
import { type Fault, FAULTS } from './testing/model-network.js';
import { type RunPlan } from './testing/model-plan.js';
import { ModelRun } from './testing/model-run.js';

/**
 * The capabilities of the partner, real and recorded: all of them, those that make an option of rule E work or fail, or
 * any.
 */
const capabilities = fc.oneof(
  fc
    .constantFrom<PartnerCapability[][]>(
      [...PARTNER_CAPABILITIES],
      ['revert-by-redemption-id'],
      ['revert-by-redemption-id', 'enforces-freshness'],
      ['revert-by-redemption-id', 'tombstones'],
      ['refuses-mismatched-pair'],
    )
    .map((does) => ({ does, recorded: does })),
  fc.record({
    does: fc.subarray([...PARTNER_CAPABILITIES]),
    recorded: fc.subarray([...PARTNER_CAPABILITIES]),
  }),
);
const HEALTHY = FAULTS.map(() => 'none' as const);
/** Every second call meets a fault; or calls are lost or late; or no call meets a fault. */
const faults = fc.constantFrom<(readonly Fault[])[]>(
  [...FAULTS, ...HEALTHY],
  [...FAULTS, ...HEALTHY],
  ['request-late', 'request-lost', 'crash-before-call'],
  ['refusal-invented', 'refusal-invented-call-dropped', 'refusal-invented-call-held', 'none'],
  HEALTHY,
);
/** The plans must give many runs with a good end and many with a bad one. */
const plans: fc.Arbitrary<RunPlan> = fc
  .record({
    tape: fc.array(fc.nat(1_000_000), { minLength: 10, maxLength: 120, size: 'max' }),
    knowing: capabilities,
    faults: fc.record({ deduct: faults, revert: faults }),
    balanceFirst: fc.boolean(),
    namesDuplicates: fc.boolean(),
    points: fc.constantFrom(5000, 5000, 7000, 20_000, 100),
    confirms: fc.boolean(),
    lastFault: fc.oneof(
      { weight: 3, arbitrary: fc.constant('none' as const) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...FAULTS.filter((fault) => fault !== 'reply-of-a-copy')),
      },
    ),
  })
  .map(({ tape, faults, knowing: { does, recorded }, confirms, lastFault, ...nature }) => ({
    tape,
    faults,
    lastFault,
    nature: { ...nature, does },
    policy: { confirms, capabilities: does.filter((capability) => recorded.includes(capability)) },
  }));

/** Reasons to which only certain guards lead. */
const ENDS = [
  'never-deducted',
  'insufficient-points',
  'deduction-unknown',
  'deduction-unresolved',
  'revert-exhausted',
  'claim-timeout',
  'user-cancelled',
];

describe('the state machine against a misbehaving partner and a chain that changes its mind', () => {
  const reached = new Set<string>();
  const restored = new Set<string>();

  it('keeps I1 to I10 in every run, and every run ends', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const run = new ModelRun(plan);
        run.work();
        run.settle();
        expect(breachesOf(run)).toEqual([]);
        for (let round = 0; round < 3 && run.row.state === 'attention'; round++) {
          run.command();
          run.work();
          run.settle();
          expect(breachesOf(run)).toEqual([]);
        }
        if (isFinal(run.row.state)) {
          const before = run.row;
          for (const event of Object.values(EVENTS)) run.apply(event);
          // Invariant I10.
          expect(run.row).toBe(before);
        }
        for (const { state, reason } of run.history) {
          reached.add(state);
          reached.add(reason ?? 'no reason');
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps them when the ledger is restored from a backup of any earlier moment, and every run ends', () => {
    fc.assert(
      fc.property(plans, fc.nat(40), (plan, steps) => {
        const run = new ModelRun(plan);
        run.work(steps);
        run.restore();
        run.work();
        run.settle();
        expect(breachesOf(run)).toEqual([]);
        for (let round = 0; round < 3 && run.row.state === 'attention'; round++) {
          run.command();
          run.work();
          run.settle();
          expect(breachesOf(run)).toEqual([]);
        }
        const { state, reason } = run.row;
        restored.add(`${state} ${reason ?? ''}`);
      }),
      { numRuns: 2000 },
    );
    expect([...restored]).toEqual(
      expect.arrayContaining([
        'claimed ',
        'failed never-deducted',
        'attention claimed-without-plan',
      ]),
    );
  });

  it('came through every state and to every end on the way', () => {
    expect([...reached]).toEqual(expect.arrayContaining([...REDEMPTION_STATES, ...ENDS]));
  });
});
