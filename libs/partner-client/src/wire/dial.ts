/**
 * Opens the connection of one call: DNS, TCP and TLS, with every address checked. There are three checks, because each
 * alone can be bypassed: of a literal address in the URL (for which no lookup happens), of every address that the name
 * resolves to, and of the address that the socket is connected to, before a byte of TLS or HTTP is sent. Only public
 * addresses are allowed, so that no partner's URL leads into our own network.
 */
import { type LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, Socket, type TcpSocketConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { PermanentError } from '#libs/domain';
import { type PhaseBeforeSending } from '../call-result.js';
import { CallStopped, describeError, DialFault } from './call-fault.js';

export interface AddressPolicy {
  /**
   * For development: allows http, loopback and private ranges besides public addresses. Link-local addresses, where
   * clouds serve their metadata, stay refused.
   */
  readonly allowPrivate: boolean;
}

/** @throws PermanentError PRIVATE_PARTNERS_REFUSED where private addresses are allowed in production */
export function addressPolicy(
  options: AddressPolicy & { readonly isProduction: boolean },
): AddressPolicy {
  const { allowPrivate, isProduction } = options;
  if (allowPrivate && isProduction) {
    throw new PermanentError(
      'PRIVATE_PARTNERS_REFUSED',
      'Partners on http or on private addresses are for development only. Turn the switch off.',
    );
  }
  return { allowPrivate };
}

const DEVELOPMENT_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal'];

/** What IANA has assigned as global unicast; all other IPv6 addresses translate to something else or are reserved. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by range, but answered by the host itself: the platform services of Azure. */
const PLATFORM_ADDRESSES: readonly string[] = ['168.63.129.16'];

/**
 * Why an address must not be connected to, or undefined where it may. Every embedding of IPv4 in IPv6 (mapped, NAT64,
 * 6to4, Teredo, compatible) is refused whatever the embedded address: no partner needs one.
 * @param address as the system writes it: four decimal numbers, or IPv6 text; anything else is refused
 * @returns the name of the range
 */
export function addressRefusal(address: string, policy: AddressPolicy): string | undefined {
  if (isIP(address) === 0) return 'not an address';
  const range = rangeOf(ipaddr.parse(address));
  if (range === 'unicast') return undefined;
  return policy.allowPrivate && DEVELOPMENT_RANGES.includes(range) ? undefined : range;
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const range = address.range();
  if (range !== 'unicast') return range;
  if (address instanceof ipaddr.IPv6) {
    return address.match(GLOBAL_UNICAST) && address.zoneId === undefined ? range : 'reserved';
  }
  return PLATFORM_ADDRESSES.includes(address.toString()) ? 'platform' : range;
}

export interface PartnerUrl {
  readonly isTls: boolean;
  /** `https://host:port`, without a path. */
  readonly origin: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path of the base URL without a slash at its end; may be empty. */
  readonly basePath: string;
}

/** Resolves a name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface DialOptions {
  readonly policy: AddressPolicy;
  /** Certificates to trust instead of the well-known ones. Verification itself cannot be turned off. */
  readonly ca?: string;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Default: a new socket that connects. */
  readonly connectTcp?: (options: TcpSocketConnectOpts) => Socket;
}

/** Progress of a connection; the times are in milliseconds of the `performance` clock, each at the end of its step. */
export interface DialProgress {
  phase: PhaseBeforeSending;
  /** True where the connection served a call before. */
  isKept?: boolean;
  remoteAddress?: string;
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
}

/**
 * Milliseconds after which the next of several addresses is tried beside the first; Node's default is too short for
 * distant partners.
 */
const ADDRESS_ATTEMPT_MS = 1000;

/**
 * @returns a connected socket to which nothing was written, with verified TLS where the URL says https
 * @param signal of a Deadline
 * @param progress updated while the connection is made
 * @throws DialFault; the socket is destroyed then
 */
export async function dial(
  url: PartnerUrl,
  options: DialOptions,
  signal: AbortSignal,
  progress: DialProgress,
): Promise<Socket> {
  progress.phase = isIP(url.host) === 0 ? 'dns' : 'connect';
  if (signal.aborted) throw dialFault(signal.reason, progress.phase);
  const { connectTcp = connectSystem } = options;
  const tcp = heard(
    connectTcp({
      host: url.host,
      port: url.port,
      lookup: guardedLookup(options, progress),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    }),
  );
  try {
    await ready(tcp, 'connect', signal);
    progress.connectedAt = performance.now();
    tcp.setNoDelay(true);
    const { remoteAddress } = tcp;
    if (remoteAddress === undefined) throw new Error('the connection was closed');
    progress.remoteAddress = remoteAddress;
    const range = addressRefusal(remoteAddress, options.policy);
    if (range !== undefined) {
      throw new DialFault('blocked-address', 'connect', `the connection leads to ${range}`);
    }
    if (!url.isTls) return tcp;
    progress.phase = 'tls';
    const tls = heard(
      connectTls({
        socket: tcp,
        ...(isIP(url.host) === 0 && { servername: url.host }),
        host: url.host,
        ALPNProtocols: ['http/1.1'],
        minVersion: 'TLSv1.2',
        // Set here, so that no environment variable can turn verification off.
        rejectUnauthorized: true,
        ...(options.ca !== undefined && { ca: options.ca }),
      }),
    );
    await ready(tls, 'secureConnect', signal);
    progress.securedAt = performance.now();
    return tls;
  } catch (error) {
    tcp.destroy();
    throw dialFault(error, progress.phase);
  }
}

function connectSystem(options: TcpSocketConnectOpts): Socket {
  return new Socket().connect(options);
}

/** Adds a listener for errors: an error without one, between two steps or after the end, would end the process. */
function heard<S extends Socket>(socket: S): S {
  socket.on('error', () => undefined);
  return socket;
}

const resolveSystem: Resolve = (hostname) => systemLookup(hostname, { all: true });

/** A lookup for other clients of Node: a name resolves only where all of its addresses may be connected to. */
export function policedLookup(policy: AddressPolicy): LookupFunction {
  return guardedLookup({ policy }, { phase: 'dns' });
}

/** One refused address refuses the whole name: the name of a partner has no reason to lead into private ranges. */
function guardedLookup(
  { policy, resolve = resolveSystem }: DialOptions,
  progress: DialProgress,
): LookupFunction {
  const checked = async (hostname: string): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname);
    progress.resolvedAt = performance.now();
    for (const { address } of addresses) {
      const range = addressRefusal(address, policy);
      if (range !== undefined) {
        throw new DialFault('blocked-address', 'dns', `the name resolves to ${range}`);
      }
    }
    if (addresses.length === 0) throw new DialFault('dns', 'dns', 'the name has no address');
    progress.phase = 'connect';
    return [...addresses];
  };
  return (hostname, options, callback) => {
    checked(hostname).then(
      (addresses) => {
        const [first] = addresses as [LookupAddress];
        if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), []);
      },
    );
  };
}

/** Waits for the event. Rejects with the socket's error, on its close, or with the signal's reason. */
function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve();
        return;
      }
      socket.destroy();
      reject(error);
    };
    const onReady = (): void => {
      settle();
    };
    const onError = (error: Error): void => {
      settle(error);
    };
    const onClose = (): void => {
      settle(new Error('the connection was closed'));
    };
    const onAbort = (): void => {
      settle(signal.reason as CallStopped);
    };
    socket.on(event, onReady).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function dialFault(error: unknown, phase: PhaseBeforeSending): DialFault {
  if (error instanceof DialFault) return error;
  const { code, text } = describeError(error);
  if (error instanceof CallStopped) {
    return new DialFault(error.why === 'deadline' ? 'connect-timeout' : 'aborted', phase, text);
  }
  return new DialFault(phase === 'dns' || phase === 'tls' ? phase : causeOf(code), phase, text);
}

function causeOf(code: string): 'connection-refused' | 'connect-timeout' | 'unreachable' {
  if (code === 'ECONNREFUSED') return 'connection-refused';
  return code === 'ETIMEDOUT' ? 'connect-timeout' : 'unreachable';
}
