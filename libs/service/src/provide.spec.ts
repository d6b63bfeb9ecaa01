import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { provide } from './provide.js';

class Engine {
  readonly power = 3;
}
const NAME = Symbol('Name');
class Car {
  constructor(
    readonly engine: Engine,
    readonly name: string,
  ) {}
}

describe('provide', () => {
  it('makes a plain class with its collaborators from the container', async () => {
    const module = await Test.createTestingModule({
      providers: [provide(Car, Engine, NAME), provide(Engine), { provide: NAME, useValue: 'a' }],
    }).compile();
    expect(module.get(Car)).toEqual({ engine: { power: 3 }, name: 'a' });
    expect(module.get(Car).engine).toBe(module.get(Engine));
  });

  it('refuses tokens of another type than the constructor takes', () => {
    // @ts-expect-error: a Car is no Engine
    provide(Car, Car, NAME);
  });
});
