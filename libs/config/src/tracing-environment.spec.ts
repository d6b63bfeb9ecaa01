import { describe, expect, it } from '@jest/globals';
import { prepareTracing, tracesExportersAreKnown, tracingIsWanted } from './index.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('traces are', () => {
  it.each([
    [ENDPOINT],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: '' }],
  ])('wanted by %j', (environment) => {
    expect(tracingIsWanted(environment)).toBe(true);
  });

  it.each([
    [{}],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: ' ' }],
    [
      {
        OTEL_SERVICE_NAME: 'x',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
        OTEL_TRACES_SAMPLER: 'always_on',
      },
    ],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'otlp, None' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: ' TRUE ' }],
  ])('not wanted by %j', (environment) => {
    const before = { ...environment };
    expect(tracingIsWanted(environment)).toBe(false);
    expect(prepareTracing('service', environment)).toBe(false);
    expect(environment).toEqual(before);
  });
});

describe('the exporters', () => {
  it.each([
    [undefined, true],
    ['otlp', true],
    [' console, otlp,', true],
    ['zipkin', false],
    ['otlp,zipkin', false],
    ['OTLP', false],
  ])('%j: known %j', (OTEL_TRACES_EXPORTER, known) => {
    expect(tracesExportersAreKnown({ OTEL_TRACES_EXPORTER })).toBe(known);
  });
});

describe('the environment of the SDK', () => {
  it('has no empty variable, and what was left open', () => {
    const environment = {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: '',
      OTEL_SERVICE_NAME: ' ',
      OTHER: '',
    };
    expect(prepareTracing('lowmark-api', environment)).toBe(true);
    expect(environment).toEqual({
      ...ENDPOINT,
      OTHER: '',
      OTEL_SERVICE_NAME: 'lowmark-api',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'env,host,serviceinstance',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    });
  });

  it('keeps what the operator said', () => {
    const said = {
      ...ENDPOINT,
      OTEL_SERVICE_NAME: 'mine',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'console',
      OTEL_NODE_RESOURCE_DETECTORS: 'all',
      OTEL_EXPORTER_OTLP_TIMEOUT: '10000',
    };
    const environment = { ...said };
    prepareTracing('lowmark-api', environment);
    expect(environment).toEqual(said);
  });

  it.each(['service.name=mine', 'a=b, service.name = mine'])(
    'takes the name of the service from %s',
    (OTEL_RESOURCE_ATTRIBUTES) => {
      const environment: Record<string, string> = { ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES };
      prepareTracing('lowmark-api', environment);
      expect(environment).not.toHaveProperty('OTEL_SERVICE_NAME');
    },
  );
});
