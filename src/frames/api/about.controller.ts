// Shows this daemon's release, Stripe account and mode, and the form of each sender's last webhook signatures.
// `crossbill rehearse` compares these with its own settings.
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CONFIG, type Config, stripeMode, VERSION } from '../../shared/config/index.js';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { SignatureForms } from '../intake/signature-forms.js';
import { MayRead } from './access/access.js';
import { Flag, Many, Text, TextOrNull, Word } from './http/docs.js';

const SOURCES: readonly InboxSource[] = ['stripe', 'mor_payments', 'mor_events'];

class SignatureFormView {
  @Word(SOURCES) source!: InboxSource;
  @TextOrNull(
    'The form of the last readable signature, such as `t=<10 digits>,v1=<64 hex>`; null: none came since the start.',
  )
  form!: string | null;
  @TextOrNull('The form of the last unreadable signature.') malformed_form!: string | null;
}

class AboutView {
  @Text('The release.') version!: string;
  @TextOrNull('The account of `STRIPE_API_KEY`; null: Stripe gave no answer.') stripe_account_id!: string | null;
  @Word(['live', 'test', 'unknown']) stripe_mode!: string;
  @Word(['payment_record', 'out_of_band']) mark_mode!: string;
  @Flag('Crossbill changes nothing at Stripe or the MoR.') shadow!: boolean;
  @Flag('Crossbill relays `invoice.created` to the MoR.') relay!: boolean;
  @Many(SignatureFormView) signatures!: SignatureFormView[];
}

@ApiTags('Health')
@Controller('v1/about')
export class AboutController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reader: BillingReader,
    private readonly forms: SignatureForms,
  ) {}

  @Get()
  @MayRead('read', 'about.read')
  @ApiOperation({ operationId: 'getAbout', summary: 'This daemon: release, Stripe account, mode (role: read)' })
  @ApiOkResponse({ type: AboutView })
  async about(): Promise<AboutView> {
    const account = await this.reader.readAccount();
    const { sendsNothing: shadow, billingMarkMode: mark_mode, morRelayUrl } = this.config;
    return {
      version: VERSION,
      stripe_account_id: account.ok ? account.value.accountId : null,
      stripe_mode: stripeMode(this.config),
      mark_mode,
      shadow,
      relay: morRelayUrl !== null,
      signatures: SOURCES.map((source) => {
        const { readable, malformed } = this.forms.of(source);
        return { source, form: readable, malformed_form: malformed };
      }),
    };
  }
}
