mod media;
