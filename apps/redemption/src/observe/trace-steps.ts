/** A span for each step of the engine, where traces are on. */
import { inSpan, type SpanAttributes, tracingIsOn } from '#libs/platform';
import { type Applied, type Work } from '../worker/leased-redemptions.js';

/** A step that takes one redemption further: the state it was in, and the one it is in now. */
export function traced(name: string, work: Work, step: () => Promise<Applied>): Promise<Applied> {
  if (!tracingIsOn()) return step();
  const { id, partner, state } = work.stored.redemption;
  const attributes = {
    ...{ 'lowmark.step': name, 'lowmark.redemption_id': id, 'lowmark.partner_id': partner },
    'lowmark.state': state,
  };
  return inSpan({ name: `step ${name}`, attributes }, async (span) => {
    const applied = await step();
    span.note({
      'lowmark.outcome': applied.decision.kind,
      'lowmark.next_state': applied.work.stored.redemption.state,
    });
    return applied;
  });
}

/** A step that moves no redemption of its own: a look at payouts, a confirmation. */
export function tracedAs(
  name: string,
  attributes: SpanAttributes,
  step: () => Promise<void>,
): Promise<void> {
  if (!tracingIsOn()) return step();
  return inSpan(
    { name: `step ${name}`, attributes: { 'lowmark.step': name, ...attributes } },
    step,
  );
}
