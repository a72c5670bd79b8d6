// The notifications of one step of a lane, with those of all features.
import { FEATURES } from '../../../src/features.js';
import { tellLane } from '../../../src/features/notifications/rules/tell-lane.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type Notice } from '../../../src/shared/domain/notification.js';

export const tellStep = (before: LaneState, after: LaneState): readonly Notice[] => tellLane(before, after, FEATURES);
