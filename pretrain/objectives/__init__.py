"""What a model is pretrained to do, one file each."""
