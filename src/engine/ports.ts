// What the core and features want from features. Each port has a null version, so each of them runs without the other.
import { type Ports } from './context.js';
import { type Lane } from './lane.js';

declare module './context.js' {
  interface Ports {
    /** Asks for the amount due by a payment link with our id. False: nothing is due, or nobody makes links here. */
    readonly requestLink: (lane: Lane, id: string) => boolean;
  }
}

export const NO_PORTS: Ports = { requestLink: () => false };
