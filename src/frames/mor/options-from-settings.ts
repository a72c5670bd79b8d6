// Makes the options of the MoR's client from the settings.
import { type Config } from '../../shared/config/index.js';
import { type OnCall } from '../../shared/observe/index.js';
import { type MorOptions } from './options.js';

export function morOptions(config: Config, onCall: OnCall): MorOptions {
  const { morPartnerClientId, morPartnerClientSecret, morRelayUrl, morRelaySecret } = config;
  return {
    baseUrl: config.morBaseUrl,
    authUrl: config.morAuthUrl,
    psp: config.morPsp,
    setupCustomer: config.morSetupCustomer,
    sendsNothing: config.sendsNothing,
    proxies: config.proxies,
    merchant: { clientId: config.morClientId, clientSecret: config.morClientSecret },
    partner:
      morPartnerClientId !== null && morPartnerClientSecret !== null
        ? { clientId: morPartnerClientId, clientSecret: morPartnerClientSecret }
        : null,
    relay:
      morRelayUrl !== null && morRelaySecret !== null ? { url: morRelayUrl.reveal(), secret: morRelaySecret } : null,
    onCall,
  };
}
