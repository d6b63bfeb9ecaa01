import { describe, expect, it } from '@jest/globals';
import { HostChoice } from './host-choice.js';

const THREE = 'postgres://user:hunter2@one,two,three/db';

/** Fails at every host except the good ones, and records each host that was tried. */
function connecting(hosts: HostChoice, ...good: string[]) {
  const tried: string[] = [];
  const connect = (): Promise<string> => {
    const { current } = hosts;
    tried.push(current.host);
    if (good.includes(current.host)) return Promise.resolve(current.host);
    hosts.failed(current);
    return Promise.reject(new Error(current.host));
  };
  return { tried, connect };
}

describe('HostChoice', () => {
  it('tries the hosts in their order, and begins with the good one afterwards', async () => {
    const hosts = new HostChoice(THREE);
    const { tried, connect } = connecting(hosts, 'two');
    expect(await hosts.attempt(connect)).toBe('two');
    expect(await hosts.attempt(connect)).toBe('two');
    expect(tried).toEqual(['one', 'two', 'two']);
  });

  it('goes round once, and gives the last error', async () => {
    const hosts = new HostChoice(THREE);
    hosts.failed(hosts.current);
    const { tried, connect } = connecting(hosts);
    await expect(hosts.attempt(connect)).rejects.toThrow('one');
    expect(tried).toEqual(['two', 'three', 'one']);
  });

  it('does not try another host where the failure is not the host’s', async () => {
    const hosts = new HostChoice(THREE);
    const refused = (): Promise<never> => Promise.reject(new Error('wrong password'));
    await expect(hosts.attempt(refused)).rejects.toThrow('wrong password');
    expect(hosts.current.host).toBe('one');
  });

  it('is moved once by connections that fail at the same time', () => {
    const hosts = new HostChoice(THREE);
    const { current } = hosts;
    hosts.failed(current);
    hosts.failed(current);
    expect(hosts.current.host).toBe('two');
  });

  it('does not show the password it holds', () => {
    expect(JSON.stringify(new HostChoice(THREE))).not.toContain('hunter2');
  });
});
