export {
  detectImageType,
  type ImageDimensions,
  type ImageType,
  imageDimensions,
} from "./images/image-type.ts";
export { type NormalizedImage, normalizeImage } from "./images/normalize-image.ts";
