/**
 * Changes that no test can notice, because the program behaves the same. `code` is a piece of the changed line; `to` is
 * the replacement, if only one replacement on that line is meant. The run names a row that fits no change.
 */
const FAULT_ONLY = 'only a rule with a fault leads there';
const HAS_TARGET = 'the call of a revert has a target';
const REFUSED_BEFORE = 'transition() refuses the answer to a call that is not open';
const NO_ROLE = 'without a role, nothing may be done as any';
const SAME = 'with equal values both ways give the same';
const TEXT = 'a sentence of an answer';
const UNREACHABLE = 'a default that the types demand and no value needs';

export const EXPLAINED = [
  ...of('apps/api/src/auth/admission.ts', [
    { code: 'apiKey === undefined ? undefined', to: 'false', why: 'no key is known as undefined' },
    { code: "request.raw.url ?? ''", to: '"Stryker was here!"', why: UNREACHABLE },
    {
      code: 'count <= admission.counted',
      to: 'count < admission.counted',
      why: 'nothing is taken',
    },
    { code: "typeof header === 'string'", to: 'true', why: 'Node joins such headers to one text' },
  ]),
  ...of('apps/console/src/approvals/approval.service.ts', [
    { code: 'const message = `“${REASON', to: '``', why: TEXT },
    { code: 'This is too much for one request', to: '""', why: TEXT },
    { code: 'There is no such request', to: '""', why: TEXT },
    { code: '{ approval: String(id), code: error.code }', why: 'a line of the log' },
    { code: 'An approved action was refused', why: 'a line of the log' },
    { code: 'requireRole(operator, action)', to: ';', why: 'requireBoth asks the same afterwards' },
    { code: 'role !== undefined &&', to: 'true', why: NO_ROLE },
    { code: 'role === undefined ||', to: 'false', why: NO_ROLE },
  ]),
  ...of('libs/domain/src/balance/fold-blocks.ts', [
    { code: 'hasRow: before !== undefined', to: 'true', why: 'a first change sets it' },
    { code: 'held < low', to: 'held <= low', why: SAME },
  ]),
  ...of('libs/domain/src/balance/snapshot.ts', [
    { code: 'low < closing ?', to: 'low <= closing', why: SAME },
  ]),
  ...of('libs/domain/src/balance/wallet-rows.ts', [
    { code: 'right[place]?.minimum', to: 'right[place].minimum', why: 'both have all days' },
    { code: "low ?? ''", to: '"Stryker was here!"', why: 'any text that is no number' },
  ]),
  ...of('libs/domain/src/redemption/call-event.ts', [
    { code: 'target === undefined ||', to: 'false', why: HAS_TARGET },
  ]),
  ...of('libs/domain/src/redemption/delivery.ts', [
    { code: 'atMs === undefined ||', to: 'false', why: 'the last attempt is due at the end' },
  ]),
  ...of('libs/domain/src/redemption/guards.ts', [
    { code: 'call.target?.by', to: 'call.target.by', why: HAS_TARGET },
  ]),
  ...of('libs/domain/src/redemption/limits.ts', [
    ...['minPoints', 'maxPoints', 'partnerLeft', 'walletLeft', 'other'].map((limit) => {
      return { code: `${limit} !== undefined &&`, to: 'true', why: 'nothing is beyond undefined' };
    }),
    { code: 'used < budget', to: 'used <= budget', why: SAME },
    { code: 'other < one', to: 'other <= one', why: SAME },
  ]),
  ...of('libs/domain/src/redemption/operator-rules.ts', [
    {
      code: 'if (lostVoucherUntilSeconds === null ||',
      to: 'false',
      why: 'the end of none is past',
    },
  ]),
  ...of('libs/domain/src/redemption/partner-answer.ts', [
    {
      code: "form.kind === 'refusal' &&",
      to: 'true',
      why: 'without a doubt there is no third form',
    },
  ]),
  ...of('libs/domain/src/redemption/payout-evidence.ts', [
    { code: 'block.number < low.number', to: 'block.number <= low.number', why: SAME },
    { code: "return status === 'none' &&", to: 'true', why: 'another status has an event' },
    { code: "evidence.outcome === 'live' &&", to: 'true', why: 'no other outcome has a doubt' },
  ]),
  ...of('libs/domain/src/redemption/revert-rules.ts', [
    { code: "if (openCall === null) return refuse('stale-call')", why: REFUSED_BEFORE },
    { code: 'openCall.target?.by', to: 'openCall.target.by', why: HAS_TARGET },
    { code: 'openCall?.target?.by', to: 'redemption.openCall?.target.by', why: HAS_TARGET },
    { code: 'openCall?.target?.by', to: 'redemption.openCall.target', why: REFUSED_BEFORE },
    { code: 'policy)?.by', why: 'with a known transaction there is a target' },
  ]),
  ...of('libs/domain/src/redemption/schedule.ts', [
    { code: 'if (step === undefined)', to: 'false', why: 'mayAttempt() refuses it, too' },
  ]),
  ...of('libs/domain/src/redemption/transition.ts', [
    { code: '!cell.to.includes(decision.next.state)', why: FAULT_ONLY },
    { code: "'ILLEGAL_TRANSITION'", why: FAULT_ONLY },
  ]),
  ...of('libs/signing/src/answer-keys.ts', [{ code: "const { x = '' }", why: UNREACHABLE }]),
  ...of('libs/signing/src/evidence-keys.ts', [{ code: "[first = '',", why: UNREACHABLE }]),
  ...of('libs/signing/src/grant.ts', [
    { code: '?? [];', to: '["Stryker was here"]', why: UNREACHABLE },
    { code: "if (!isGrant(grant)) return ''", to: '"Stryker was here!"', why: 'no content either' },
    { code: '} catch (error) {', why: 'undefined is no content either' },
    { code: 'error instanceof LowmarkError', why: 'only a fault of the code is another error' },
  ]),
  ...of('libs/signing/src/hmac.ts', [
    { code: 'signature === undefined', to: 'false', why: 'the pattern refuses undefined too' },
  ]),
  ...of('libs/signing/src/key-ring.ts', [
    { code: "cipher.update(secret, 'utf8')", to: '""', why: 'UTF-8 is the default' },
    { code: "createDecipheriv('aes-256-gcm'", to: '{}', why: 'the tag has its 16 bytes already' },
  ]),
  ...of('libs/signing/src/message-signature.ts', [
    { code: "values[place] ?? ''", to: '"Stryker was here!"', why: UNREACHABLE },
    { code: "Buffer.from(base, 'latin1')", to: '""', why: 'the base is ASCII' },
    { code: "typeof value === 'string'", to: 'true', why: 'no other value has a length' },
  ]),
  ...of('libs/signing/src/minted-secrets.ts', [
    { code: 'token === undefined ||', to: 'false', why: 'the pattern refuses undefined too' },
  ]),
];

function of(file, rows) {
  return rows.map((row) => ({ file, ...row }));
}
