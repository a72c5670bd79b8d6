// The parts of the MoR side; each adds its own routes. A new part is one file and one line here.
import { type Kernel } from '../kernel/kernel.js';
import { addMerchantApi } from './merchant-api.js';
import { addPartnerApi } from './onboarding/partner-api.js';
import { type MorState } from './state.js';

export type MorPlugin = (kernel: Kernel, mor: MorState) => void;

/** Documents 1 and 2. The sandbox itself adds Document 3 (cards, tokens). */
export const morPlugins: readonly MorPlugin[] = [addMerchantApi, addPartnerApi];
