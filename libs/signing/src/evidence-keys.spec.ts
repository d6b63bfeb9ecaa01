import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EvidenceKeys } from './evidence-keys.js';

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const [one, other] = [keyOf(1), keyOf(2)];

describe('EvidenceKeys', () => {
  it('makes an HMAC-SHA256 behind the id of its key', () => {
    const mac = EvidenceKeys.parse(`${one},${other}`).mac('content');
    const hmac = createHmac('sha256', Buffer.alloc(32, 1)).update('content').digest();
    expect(mac.subarray(4)).toEqual(hmac);
    expect(mac).toHaveLength(36);
  });

  it('verifies what any of its keys made, and nothing else', () => {
    const mac = EvidenceKeys.parse(other).mac('content');
    const both = EvidenceKeys.parse(`${one}, ${other}`);
    expect(both.verify('content', mac)).toBe(true);
    expect(both.verify('other content', mac)).toBe(false);
    expect(EvidenceKeys.parse(one).verify('content', mac)).toBe(false);
    expect(both.verify('content', null)).toBe(false);
    expect(both.verify('content', mac.subarray(0, 35))).toBe(false);
    for (let index = 0; index < mac.length; index++) {
      const wrong = Buffer.from(mac);
      wrong.writeUInt8(wrong.readUInt8(index) ^ 1, index);
      expect(both.verify('content', wrong)).toBe(false);
    }
  });

  it.each(['', 'short', `${one},`, Buffer.alloc(31).toString('base64')])(
    'refuses %p and does not repeat it',
    (text) => {
      expect(() => EvidenceKeys.parse(text)).toThrow(
        'EVIDENCE_KEY must be 32 bytes in base64, for example from: openssl rand -base64 32',
      );
    },
  );
});
