import { inSpan, type SpanAttributes, tracingIsOn } from '#libs/platform';
import { type ApplyResult, type LeasedWork } from '../worker/leased-redemptions.js';

/** Traces a step of one redemption, with the states before and after the step. */
export function traced(
  name: string,
  work: LeasedWork,
  step: () => Promise<ApplyResult>,
): Promise<ApplyResult> {
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

/** Traces a step that is not about a single redemption's state: a poll of payouts, or a confirmation. */
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
