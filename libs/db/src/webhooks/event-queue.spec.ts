import { describe, expect, it } from '@jest/globals';
import { canonicalPayload } from './event-queue.js';

describe('what is sent of an event', () => {
  it('is the text as it is where that is no JSON, so that it holds up no other event', () => {
    expect(canonicalPayload('not {json')).toBe('not {json');
  });
});
