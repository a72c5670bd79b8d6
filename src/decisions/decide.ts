// What the engine decides with the subjects in place: pure, for whoever needs a decision without a worker.
import { applyAnswer as answerBy, applyProbe as probeBy } from '../engine/apply-answer.js';
import { applyEvent as eventBy } from '../engine/take-event.js';
import { nextErrand as errandBy } from '../engine/errands.js';
import { resolveReview as resolveBy } from '../engine/resolve-review.js';
import { settle as settleBy } from '../engine/settle.js';
import { SUBJECTS } from './subjects.js';

type By<F> = F extends (subjects: typeof SUBJECTS, ...rest: infer R) => infer T ? (...rest: R) => T : never;

export const applyEvent: By<typeof eventBy> = (...of) => eventBy(SUBJECTS, ...of);
export const applyAnswer: By<typeof answerBy> = (...of) => answerBy(SUBJECTS, ...of);
export const applyProbe: By<typeof probeBy> = (...of) => probeBy(SUBJECTS, ...of);
export const nextErrand: By<typeof errandBy> = (...of) => errandBy(SUBJECTS, ...of);
export const resolveReview: By<typeof resolveBy> = (...of) => resolveBy(SUBJECTS, ...of);
export const settle: By<typeof settleBy> = (...of) => settleBy(SUBJECTS, ...of);
