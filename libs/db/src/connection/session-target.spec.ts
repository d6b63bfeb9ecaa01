import { describe, expect, it } from '@jest/globals';
import { SESSION_TARGETS } from '#libs/platform';
import { isTarget, noteReport, type ReportedState } from './session-target.js';

function targetsOf(state: ReportedState, asksForReadOnly = false): string[] {
  return SESSION_TARGETS.filter((target) => isTarget(target, state, asksForReadOnly));
}

describe('isTarget', () => {
  it('tells servers apart by what they report', () => {
    expect(targetsOf({})).toEqual(['any', 'read-write', 'primary']);
    expect(targetsOf({ standby: true })).toEqual(['any', 'read-only', 'standby']);
    expect(targetsOf({ standby: false, readOnly: true })).toEqual(['any', 'read-only', 'primary']);
  });

  it('does not take what the session asked for as the server’s', () => {
    expect(targetsOf({ readOnly: true }, true)).toEqual(['any', 'read-write', 'primary']);
    expect(targetsOf({ standby: true, readOnly: true }, true)).not.toContain('read-write');
  });
});

describe('noteReport', () => {
  it('keeps what tells servers apart, the newest', () => {
    const state: ReportedState = {};
    noteReport(state, 'in_hot_standby', 'on');
    noteReport(state, 'TimeZone', 'UTC');
    expect(state).toEqual({ standby: true });
    noteReport(state, 'in_hot_standby', 'off');
    expect(state).toEqual({ standby: false });
  });
});
