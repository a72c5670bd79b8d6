// Opens a tracer when the settings ask for one.
import { type Tracer } from './tracer.js';

/**
 * The tracer that the settings ask for. The OpenTelemetry packages are loaded here and only when they are used.
 * @param endpoint `OTEL_EXPORTER_OTLP_ENDPOINT`; null: no traces, and no tracer
 * @param onTrouble told when spans could not be delivered; they are dropped then
 */
export async function tracerOf(endpoint: string | null, onTrouble: (error: unknown) => void): Promise<Tracer | null> {
  if (endpoint === null) return null;
  const { OtlpTracer } = await import('./otlp-tracer.js');
  return new OtlpTracer(endpoint, onTrouble);
}
