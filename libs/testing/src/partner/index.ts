export {
  CALLBACK_KEY,
  CALLBACK_SECRET,
  FakePartner,
  type PartnerAnswer,
  type PartnerBehaviour,
  type PartnerCall,
  refusal,
} from './fake-partner.js';
export { aCredentialId, aPartnerId, aWebhookId } from './ids.js';
export { aNewCredential, registerPartner } from './register-partner.js';
