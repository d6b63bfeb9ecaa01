import { describe, expect, it } from '@jest/globals';
import { RangeSizer } from './range-sizer.js';

const options = { targetBytes: 1000, maxBlocks: 1000, initialBlocks: 100 };

describe('RangeSizer', () => {
  it('doubles at the most while answers are small', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(100, 10);
    expect(sizer.size).toBe(200);
    sizer.succeeded(200, 10);
    expect(sizer.size).toBe(400);
  });

  it('never asks for more than the maximum', () => {
    const sizer = new RangeSizer(options);
    for (let answers = 0; answers < 20; answers++) sizer.succeeded(sizer.size, 1);
    expect(sizer.size).toBe(1000);
  });

  it('goes to the size that would have met the target, halving at the most', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(100, 1250);
    expect(sizer.size).toBe(80);
    sizer.succeeded(80, 1_000_000);
    expect(sizer.size).toBe(40);
  });

  it('does not grow on a short range at the head', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(1, 1);
    expect(sizer.size).toBe(100);
  });

  it('halves what was refused', () => {
    const sizer = new RangeSizer(options);
    expect(sizer.refused(100)).toBe(50);
    expect(sizer.size).toBe(50);
  });

  it('takes the proposed range, and halves where the proposal is no help', () => {
    const sizer = new RangeSizer(options);
    expect(sizer.refused(100, 30)).toBe(30);
    expect(sizer.refused(30, 30)).toBe(15);
    expect(sizer.refused(15, 4000)).toBe(7);
    expect(sizer.refused(7, 0)).toBe(3);
    expect(sizer.refused(3, -5)).toBe(1);
    expect(sizer.size).toBe(1);
  });

  it('keeps below what was refused, then tries more again', () => {
    const sizer = new RangeSizer(options);
    sizer.refused(100);
    for (let answers = 0; answers < 20; answers++) sizer.succeeded(sizer.size, 1);
    expect(sizer.size).toBe(50);
    for (let answers = 0; answers < 20; answers++) sizer.succeeded(sizer.size, 1);
    expect(sizer.size).toBe(100);
  });

  it('does not take a refusal of a longer range for permission to go beyond a shorter one', () => {
    const sizer = new RangeSizer(options);
    sizer.refused(40);
    sizer.refused(1000);
    expect(sizer.size).toBe(20);
  });
});
