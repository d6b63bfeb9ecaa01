/** The steps of the engine with a span for each run, where traces are on; where they are off, the steps as they are. */
import { type StoredDelivery, type StoredRedemption } from '#libs/db';
import { inSpan, type SpanAttributes, tracingIsOn } from '#libs/platform';

interface StoredWork {
  readonly stored: StoredRedemption;
}

/** Of a step's result, what there is to tell. */
interface Outcome {
  readonly decision: { readonly kind: string };
  readonly work: StoredWork;
}

interface Step<W, R> {
  run(work: W, ...rest: never[]): Promise<R>;
}

interface Facts<W, R> {
  readonly before: (work: W) => SpanAttributes;
  readonly after?: (result: R) => SpanAttributes;
}

/** A step that takes one redemption further: the state it was in, and the one it is in now. */
export function traceStep<S extends Step<StoredWork, Outcome>>(name: string, step: S): S {
  return traced<StoredWork, Outcome, S>(name, step, {
    before: ({ stored: { redemption } }) => ({
      'lowmark.redemption_id': redemption.id,
      'lowmark.partner_id': redemption.partner,
      'lowmark.state': redemption.state,
    }),
    after: ({ decision, work }) => ({
      'lowmark.outcome': decision.kind,
      'lowmark.next_state': work.stored.redemption.state,
    }),
  });
}

/** The look at what became of payouts, many at once. */
export function traceObserving<S extends Step<readonly StoredWork[], unknown>>(step: S): S {
  return traced<readonly StoredWork[], unknown, S>('observe', step, {
    before: (works) => ({
      'lowmark.redemption_ids': works.map(({ stored }) => stored.redemption.id),
    }),
  });
}

/** A confirmation that is brought to a partner. */
export function traceConfirming<S extends Step<{ readonly stored: StoredDelivery }, unknown>>(
  step: S,
): S {
  return traced<{ readonly stored: StoredDelivery }, unknown, S>('confirm', step, {
    before: ({ stored }) => ({
      'lowmark.redemption_id': stored.redemptionId,
      'lowmark.partner_id': stored.partner,
    }),
  });
}

function traced<W, R, S extends Step<W, R>>(name: string, step: S, facts: Facts<W, R>): S {
  if (!tracingIsOn()) return step;
  const run = step.run.bind(step);
  const tracedRun = (work: W, ...rest: never[]): Promise<R> => {
    const attributes = { 'lowmark.step': name, ...facts.before(work) };
    return inSpan({ name: `step ${name}`, attributes }, async (span) => {
      const result = await run(work, ...rest);
      if (facts.after) span.note(facts.after(result));
      return result;
    });
  };
  return Object.assign(step, { run: tracedRun });
}
