// A lookup: a question that the lane needs answered next. It changes nothing outside.
import { type Lane, type Rule } from './draft.js';
import { type CarriedBy, type Errand, type NextErrand, type Peers } from './errand.js';

/** `Q`: the question, `A`: the answer. */
export type Lookup<Q, A> = {
  /** As the trail and the metrics name it. */
  readonly name: string;
  /** The question to ask now; null: there is none. A time to come belongs into `lane.isPast`. */
  readonly wanted: (lane: Lane) => Q | null;
  /** No transaction is open meanwhile. */
  readonly ask: (question: Q, peers: Peers) => Promise<A>;
  readonly take: (lane: Lane, answer: A, question: Q) => void;
};

/** The next question of a lookup, ready to be asked; null: there is none. */
export function nextLookup<Q, A>(lookup: Lookup<Q, A>): NextErrand {
  return (lane) => {
    const question = lookup.wanted(lane);
    return question === null ? null : askFor(lookup, question);
  };
}

/** Asks this question next. */
export function askFor<Q, A>({ name, ask, take }: Lookup<Q, A>, question: Q): Errand {
  const asked = async (peers: Peers, call: CarriedBy): Promise<Rule> => {
    const answer = await call(name, ask(question, peers));
    return (lane) => take(lane, answer, question);
  };
  return { do: 'look-up', name, question, ask: asked };
}
