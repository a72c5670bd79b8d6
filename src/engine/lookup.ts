// A lookup: a question that the lane needs answered next. It changes nothing outside.
import { Lane, type Rule } from './draft.js';
import { type Peers } from './errand.js';
import { type ErrandRule } from './subject.js';

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
export function nextLookup<Q, A>({ name, wanted, ask, take }: Lookup<Q, A>): ErrandRule {
  return (s, ctx, due) => {
    const question = wanted(new Lane(s, ctx, (at) => void due(at)));
    if (question === null) return null;
    const asked = async (peers: Peers): Promise<Rule> => {
      const answer = await ask(question, peers);
      return (lane) => take(lane, answer, question);
    };
    return { do: 'look-up', name, question, ask: asked };
  };
}
